#include "daemon/status_page.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "daemon/chart.h"

/* In pieces, as C has a longest literal; NULL ends them. */
static const char *const style[] = {
    ":root{color-scheme:light dark;--bg:#f4f5f8;--card:#fff;--ink:#171a23;"
    "--soft:#5b6273;--line:#e3e6ec;--c0:#2563eb;--c1:#d97706;--c2:#7c3aed;"
    "--c3:#64748b;--c4:#dc2626;--c5:#0d9488;--good:#15803d;--bad:#b91c1c;"
    "--wait:#b45309;--edge:0 1px 2px #0f172a14,0 4px 16px #0f172a0d}"
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1017;--card:#161b25;"
    "--ink:#e8ebf2;--soft:#99a2b5;--line:#262d3b;--c0:#60a5fa;--c1:#fbbf24;"
    "--c2:#a78bfa;--c3:#94a3b8;--c4:#f87171;--c5:#2dd4bf;--good:#4ade80;"
    "--bad:#f87171;--wait:#fbbf24;--edge:0 0 0 1px #262d3b}}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 "
    "system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}"
    "header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}"
    "header{display:flex;align-items:center;gap:.75rem;padding-top:1.5rem;"
    "padding-bottom:1rem}"
    "header svg{width:2.1rem;height:2.1rem;flex:none}"
    "h1{font-size:1.3rem;line-height:1.2;letter-spacing:-.02em;margin:0;"
    "flex:1}h1 small{display:block;font-size:.8rem;font-weight:400;"
    "letter-spacing:0;color:var(--soft)}"
    "button{font:inherit;font-size:.875rem;color:var(--ink);background:"
    "var(--card);border:1px solid var(--line);border-radius:.6rem;"
    "min-height:2.75rem;padding:.25rem 1rem;cursor:pointer}"
    ":focus-visible{outline:3px solid var(--c0);outline-offset:2px}"
    ".state{display:flex;align-items:center;gap:.6rem;font-weight:600;"
    "margin:0 0 1rem;padding:.8rem 1.1rem;border-radius:.9rem;background:"
    "var(--card);box-shadow:var(--edge)}"
    ".state i{width:.75rem;height:.75rem;border-radius:50%;flex:none}"
    ".state span{color:var(--soft);font-weight:400;margin-left:auto;"
    "text-align:right}"
    ".good i{background:var(--good)}.bad i{background:var(--bad)}"
    ".wait i{background:var(--wait)}",
    ".tiles{display:grid;grid-template-columns:repeat(5,1fr);gap:1rem;"
    "margin:0 0 1rem}"
    ".tiles div{background:var(--card);border-radius:.9rem;padding:.9rem "
    "1.1rem;box-shadow:var(--edge)}"
    ".tiles dt{font-size:.8rem;color:var(--soft)}"
    ".tiles dd{margin:0;font-size:1.65rem;line-height:1.3;font-weight:650;"
    "letter-spacing:-.02em;font-variant-numeric:tabular-nums}"
    ".tiles dd+dd{font-size:.8rem;font-weight:400;letter-spacing:0;"
    "color:var(--soft)}"
    ".charts{display:grid;grid-template-columns:1fr 1fr;gap:1rem}"
    "figure{margin:0;background:var(--card);border-radius:.9rem;padding:"
    "1.1rem 1.25rem .6rem;box-shadow:var(--edge);min-width:0}"
    "h2{font-size:1rem;line-height:1.3;margin:0}"
    "figcaption p{margin:.1rem 0 .5rem;font-size:.8rem;color:var(--soft)}"
    ".legend{list-style:none;margin:0 0 .8rem;padding:0;display:flex;"
    "flex-wrap:wrap;gap:.15rem 1rem;font-size:.8rem;color:var(--soft)}"
    ".legend i{display:inline-block;width:.65rem;height:.65rem;"
    "border-radius:.2rem;margin-right:.4rem}"
    ".legend b{color:var(--ink);font-variant-numeric:tabular-nums}"
    ".plot{display:grid;grid-template-columns:3.6rem 1fr;"
    "font-size:.72rem;color:var(--soft);font-variant-numeric:tabular-nums}"
    ".plot svg{width:100%;height:9.5rem;display:block;overflow:visible}"
    ".y{display:flex;flex-direction:column;justify-content:space-between;"
    "text-align:right;padding-right:.6rem;height:9.5rem;line-height:1}"
    ".x{grid-column:2;display:flex;justify-content:space-between;"
    "padding-top:.35rem}",
    ".grid{stroke:var(--line);fill:none;stroke-width:1;"
    "vector-effect:non-scaling-stroke}"
    ".line{fill:none;stroke-width:2;vector-effect:non-scaling-stroke;"
    "stroke-linejoin:round}.area{opacity:.16}"
    ".c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}"
    ".c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}"
    ".s3{stroke:var(--c3)}.s4{stroke:var(--c4)}.s5{stroke:var(--c5)}"
    ".b0{background:var(--c0)}.b1{background:var(--c1)}"
    ".b2{background:var(--c2)}.b3{background:var(--c3)}"
    ".b4{background:var(--c4)}.b5{background:var(--c5)}"
    "summary{cursor:pointer;font-size:.8rem;color:var(--soft);"
    "padding:.65rem 0;border-radius:.3rem}"
    ".scroll{overflow-x:auto;padding-bottom:.6rem}"
    "table{border-collapse:collapse;width:100%;font-size:.8rem;"
    "font-variant-numeric:tabular-nums}"
    "th,td{padding:.3rem .5rem;text-align:right;white-space:nowrap;"
    "border-top:1px solid var(--line)}th:first-child{text-align:left}"
    "thead th{border:0;color:var(--soft);font-weight:500}"
    "tbody th{font-weight:400;color:var(--soft)}"
    ".away{position:absolute;width:1px;height:1px;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap}"
    "footer{font-size:.8rem;color:var(--soft);padding-top:1.25rem;"
    "padding-bottom:2rem}footer a{color:inherit}"
    "@media(max-width:60rem){.tiles{grid-template-columns:repeat(3,1fr)}"
    ".charts{grid-template-columns:1fr}}"
    "@media(max-width:36rem){header,main,footer{padding-left:1rem;"
    "padding-right:1rem}.tiles{grid-template-columns:1fr 1fr;gap:.75rem}"
    ".tiles div:first-child{grid-column:1/3}.state{flex-wrap:wrap}"
    ".state span{margin-left:1.35rem;text-align:left;flex-basis:100%}"
    "figure{padding:1rem 1rem .4rem}}"
    "@media print{button{display:none}figure{break-inside:avoid}}",
    NULL};

static const char *const script[] = {
    "(()=>{const b=document.querySelector('button');let on=true;"
    "b.hidden=false;b.onclick=()=>{on=!on;b.textContent=on?'Pause':'Resume';"
    "b.setAttribute('aria-pressed',String(!on))};"
    "setInterval(async()=>{if(!on||document.hidden)return;try{"
    "const r=await fetch('/',{cache:'no-store'});if(!r.ok)throw 0;"
    "const d=new DOMParser().parseFromString(await r.text(),'text/html');"
    "const n=d.querySelector('main'),o=document.querySelector('main');"
    "const f=document.activeElement&&document.activeElement.id;"
    "o.querySelectorAll('details[open]').forEach(e=>{"
    "const m=n.querySelector('#'+e.id);if(m)m.open=true});"
    "o.replaceWith(n);document.title=d.title;"
    "if(f){const e=document.getElementById(f);"
    "if(e&&e!==document.activeElement)e.focus({preventScroll:true})}"
    "}catch(e){const s=document.querySelector('.state');"
    "s.className='state bad';"
    "s.querySelector('b').textContent='The gateway does not answer'}},5000)"
    "})()",
    NULL};

/* "'sha256-...'" of PARTS, as a Content-Security-Policy names it. */
static void
name_source(char out[static 64], const char *const *parts)
{
	uint8_t hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state state;
	char base64[48];

	crypto_hash_sha256_init(&state);
	for (; *parts != NULL; parts++)
		crypto_hash_sha256_update(
		    &state, (const uint8_t *)*parts, strlen(*parts));
	crypto_hash_sha256_final(&state, hash);
	sodium_bin2base64(base64, sizeof(base64), hash, sizeof(hash),
	    sodium_base64_VARIANT_ORIGINAL);
	snprintf(out, 64, "'sha256-%s'", base64);
}

static void
put_parts(struct buffer *b, const char *const *parts)
{
	for (; *parts != NULL; parts++)
		buffer_text(b, *parts);
}

void
status_page_fields(char out[static STATUS_PAGE_FIELDS])
{
	char styles[64], scripts[64];

	name_source(styles, style);
	name_source(scripts, script);
	snprintf(out, STATUS_PAGE_FIELDS,
	    "Content-Security-Policy: default-src 'none'; style-src %s; "
	    "script-src %s; connect-src 'self'; img-src data:; base-uri "
	    "'none'; form-action 'none'; frame-ancestors 'none'\r\n"
	    "X-Content-Type-Options: nosniff\r\n"
	    "Referrer-Policy: no-referrer\r\n",
	    styles, scripts);
}

/* --- charts --- */

/* Read one number of a step. */
typedef double read_fn(const struct history_step *s, unsigned which);

static double
read_answer(const struct history_step *s, unsigned which)
{
	return (double)s->answers[which];
}

static double
read_verify(const struct history_step *s, unsigned which)
{
	if (s->verified == 0)
		return -1;
	return (double)(which ? s->verify_p95_ns : s->verify_p50_ns) / 1e9;
}

static double
read_gauge(const struct history_step *s, unsigned which)
{
	return (double)(which ? s->queue : s->tunnels);
}

static double
read_bytes(const struct history_step *s, unsigned which)
{
	return (double)(which ? s->bytes_up : s->bytes_down);
}

static double
read_mix(const struct history_step *s, unsigned which)
{
	return (double)(which ? s->mix_lost : s->mix_relayed);
}

static void
add_series(struct chart *c, const struct history *h, const char *name,
    unsigned colour, read_fn *read, unsigned which)
{
	struct chart_series *s = &c->series[c->n++];

	s->name = name;
	s->colour = colour;
	for (size_t i = 0; i < HISTORY_STEPS; i++)
		s->v[i] = read(history_step(h, HISTORY_STEPS - 1 - i), which);
}

/* Make C anew; the caller adds its series. */
static void
begin(struct chart *c, const char *id, enum chart_unit unit, bool bars,
    const char *title, const char *about)
{
	c->id = id;
	c->unit = unit;
	c->bars = bars;
	c->title = title;
	c->about = about;
	c->n = 0;
}

static void
write_charts(struct buffer *b, const struct status_page *p)
{
	const struct history *h = p->history;
	struct chart *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return; /* the figures above are there all the same */
	begin(c, "answers", CHART_COUNT, true, "Requests",
	    "CONNECTs by what they were answered, per half minute");
	for (unsigned i = 0; i < HISTORY_ANSWERS; i++)
		add_series(c, h, history_answer_name((enum history_answer)i), i,
		    read_answer, i);
	chart_render(b, c);
	begin(c, "verify", CHART_SECONDS, false, "Verifying a proof",
	    "From the queue to the verdict: the median, and 19 of 20");
	add_series(c, h, "p50", 0, read_verify, 0);
	add_series(c, h, "p95", 2, read_verify, 1);
	chart_render(b, c);
	begin(c, "tunnels", CHART_COUNT, false, "Tunnels",
	    "Open at once: the highest of each half minute");
	add_series(c, h, "open", 5, read_gauge, 0);
	chart_render(b, c);
	begin(c, "bytes", CHART_BYTES, false, "Traffic",
	    "Bytes relayed per half minute");
	add_series(c, h, "to members", 0, read_bytes, 0);
	add_series(c, h, "from members", 1, read_bytes, 1);
	chart_render(b, c);
	begin(c, "queue", CHART_COUNT, false, "Queue",
	    "Proofs that wait for a worker: the highest of each half minute");
	add_series(c, h, "waiting", 1, read_gauge, 1);
	chart_render(b, c);
	if (p->gauges->mix) {
		begin(c, "mix", CHART_COUNT, true, "Mixnet",
		    "Requests that came through the mixnet, per half minute. "
		    "How long they were under way only their senders know: "
		    "see postern mix probe");
		add_series(c, h, "relayed", 5, read_mix, 0);
		add_series(c, h, "failed or lost", 4, read_mix, 1);
		chart_render(b, c);
	}
	free(c);
}

/* --- figures --- */

static void
tile(struct buffer *b, const char *name, enum chart_unit unit, double v,
    const char *note)
{
	buffer_format(b, "<div><dt>%s</dt><dd>", name);
	chart_number(b, unit, v);
	buffer_format(b, "</dd><dd>%s</dd></div>", note);
}

static void
write_tiles(struct buffer *b, const struct status_page *p)
{
	const struct gauges *now = p->gauges;
	const struct metrics *m = p->metrics;
	uint64_t asked = 0, opened = 0, left = 0;
	char note[64];

	for (size_t i = 0; i < HISTORY_STEPS; i++) {
		const struct history_step *s = history_step(p->history, i);
		for (unsigned k = 0; k < HISTORY_ANSWERS; k++)
			asked += s->answers[k];
		opened += s->answers[ANSWER_OPENED];
	}
	if (now->epoch_end_seconds > p->wall)
		left = now->epoch_end_seconds - p->wall;
	buffer_text(b, "<dl class=\"tiles\">");
	snprintf(
	    note, sizeof(note), "of %" PRIu64 " connections", now->sessions);
	tile(b, "Tunnels open", CHART_COUNT, (double)now->tunnels, note);
	snprintf(note, sizeof(note), "%" PRIu64 " opened", opened);
	tile(b, "Requests, last hour", CHART_COUNT, (double)asked, note);
	snprintf(note, sizeof(note), "95 %% of %" PRIu64, m->verify.count);
	tile(b, "Verifying, since start", CHART_SECONDS,
	    (double)histogram_quantile(&m->verify, 0.95) / 1e9, note);
	snprintf(note, sizeof(note), "of at most %" PRIu64, now->queue_max);
	tile(b, "Proofs waiting", CHART_COUNT,
	    (double)(now->queue[0] + now->queue[1]), note);
	snprintf(note, sizeof(note), "left of epoch %" PRIu64, now->epoch);
	buffer_format(b,
	    "<div><dt>Epoch</dt><dd>%" PRIu64 ":%02" PRIu64
	    " h</dd><dd>%s</dd></div></dl>\n",
	    left / 3600, left / 60 % 60, note);
}

static void
write_state(struct buffer *b, const struct status_page *p)
{
	bool ready = p->gauges->ready;
	bool waits = p->starting || p->gauges->draining;
	uint64_t up = 0;

	if (p->wall > p->gauges->start_seconds)
		up = p->wall - p->gauges->start_seconds;
	buffer_format(b,
	    "<p class=\"state %s\" role=\"status\"><i></i><b>%s%s</b><span>up "
	    "for %" PRIu64 " d %" PRIu64 " h %" PRIu64 " min</span></p>\n",
	    ready	? "good"
		: waits ? "wait"
			: "bad",
	    ready ? "Ready: requests are served" : "Not ready: ",
	    ready ? "" : p->why, up / 86400, up / 3600 % 24, up / 60 % 60);
}

void
status_page_render(struct buffer *b, const struct status_page *p)
{
	buffer_format(b,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	    "<meta name=\"viewport\" content=\"width=device-width,"
	    "initial-scale=1\"><title>Postern: %s</title>"
	    "<link rel=\"icon\" href=\"data:,\">"
	    "<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript>"
	    "<style>",
	    p->gauges->ready ? "ready" : "not ready");
	put_parts(b, style);
	buffer_text(b,
	    "</style></head>\n<body><header>"
	    "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\"><path "
	    "class=\"c0\" "
	    "d=\"M3 30V14a13 13 0 0 1 26 0v16h-6V14a7 7 0 0 0-14 0v16z\"/>"
	    "<path class=\"c2\" d=\"M12 30V14.5a4 4 0 0 1 8 0V30z\"/></svg>"
	    "<h1>Postern<small>the last hour of this gateway</small></h1>"
	    "<button type=\"button\" aria-pressed=\"false\" hidden>Pause"
	    "</button></header>\n<main>");
	write_state(b, p);
	write_tiles(b, p);
	buffer_text(b, "<div class=\"charts\">\n");
	write_charts(b, p);
	buffer_text(b,
	    "</div></main>\n<footer>postern " POSTERN_VERSION
	    ". Nothing here is about one member or one target. Machines read "
	    "<a href=\"/metrics\">/metrics</a>.</footer>"
	    "<script>");
	put_parts(b, script);
	buffer_text(b, "</script></body></html>\n");
}
