import { describeReservations } from './reservations-contract.ts'
import { createEmbeddedStack } from './stack-under-test.ts'

for (const by of ['ingest', 'the control plane'] as const) {
  describeReservations(`reserved by ${by}`, () => createEmbeddedStack(by))
}
