import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest test files, the slowest first. If one of them began last, the run would wait for it alone. */
const longest = [
  'deploy/test/money/crash-points.test.ts',
  'control-plane/test/kill-after-commit.test.ts',
  'tools/test/chaos.test.ts',
  'tools/test/hostile.test.ts',
  'deploy/test/pages/portal.test.ts',
  'deploy/test/year/year.test.ts',
  'deploy/test/conformance/api-description.test.ts',
  'deploy/test/reservations.test.ts',
  'aggregator/test/older-store.test.ts',
  'deploy/test/standalone.test.ts',
  'aggregator/test/lost-rows.test.ts',
  'deploy/test/pages/payment.test.ts',
  'deploy/test/money/killed-take-backs.test.ts',
  'deploy/test/webhooks/killed-dispatchers.test.ts',
  'deploy/test/kafka-log-faults.engines.test.ts',
  'tools/test/engine-chaos.engines.test.ts',
  'deploy/test/migrate.engines.test.ts',
  'deploy/test/reservations.engines.test.ts',
  'tools/test/engine-failures.engines.test.ts',
  'tools/test/flush-chaos.engines.test.ts',
  'platform/test/hot-state-redis.engines.test.ts',
  'platform/test/event-log-kafka-groups.engines.test.ts',
  'deploy/test/wallets.engines.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((one, other) => placeOf(one) - placeOf(other))
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((file) => moduleId.endsWith(file))
  return place === -1 ? longest.length : place
}
