import { describeRateCards } from './rate-cards-contract.ts'
import { createEmbeddedStack } from './stack-under-test.ts'

describeRateCards('rate cards', () => createEmbeddedStack('ingest'))
