// The chain of chain.mjs: nothing of it is written anywhere.
module.exports = {
  solidity: '0.8.23',
  networks: { hardhat: { allowUnlimitedContractSize: true } },
}
