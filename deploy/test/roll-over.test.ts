import { describeRollOver } from './roll-over-contract.ts'
import { createEmbeddedStack } from './stack-under-test.ts'

for (const by of ['ingest', 'the control plane'] as const) {
  describeRollOver(`units carried over, reserved by ${by}`, (clock) =>
    createEmbeddedStack(by, { clock }),
  )
}
