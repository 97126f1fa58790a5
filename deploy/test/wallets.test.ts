import { describeWallets } from './wallets-contract.ts'
import { createEmbeddedStack } from './stack-under-test.ts'

for (const by of ['ingest', 'the control plane'] as const) {
  describeWallets(`taken by ${by}`, () => createEmbeddedStack(by))
}
