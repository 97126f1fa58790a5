import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest test files, the slowest first. If one of them began last, the run would wait for it alone. */
const longest = [
  'aggregator/test/older-store.test.ts',
  'deploy/test/pricing-day/pricing-day.test.ts',
  'deploy/test/money/crash-points.test.ts',
  'deploy/test/test-clocks/killed-advances.test.ts',
  'deploy/test/money/killed-take-backs.test.ts',
  'deploy/test/money/crashing-jobs.test.ts',
  'aggregator/test/migrations.test.ts',
  'platform/test/hot-state-lmdb.test.ts',
  'deploy/test/mcp/sequences/sequences.test.ts',
  'deploy/test/money/paid-debts.test.ts',
  'tools/test/chaos.test.ts',
  'control-plane/test/kill-after-commit.test.ts',
  'tools/test/hostile.test.ts',
  'deploy/test/standalone.test.ts',
  'deploy/test/money/killed-services.test.ts',
  'deploy/test/test-clocks/test-clock-rules.test.ts',
  'deploy/test/money/recharge-crossings.test.ts',
  'aggregator/test/usage-totals-crash.test.ts',
  'platform/test/hot-state-lmdb-crash.test.ts',
  'aggregator/test/lost-rows.test.ts',
  'control-plane/test/emails-killed.test.ts',
  'deploy/test/year/year.test.ts',
  'deploy/test/mcp/installation.test.ts',
  'deploy/test/reconciliation/counted-and-paid.test.ts',
  'deploy/test/pages/checkout.test.ts',
  'deploy/test/reservations.test.ts',
  'deploy/test/conformance/api-description.test.ts',
  'deploy/test/mcp/clients.test.ts',
  'deploy/test/money/crash-stories.test.ts',
  'deploy/test/wallets.engines.test.ts',
  'deploy/test/migrate.engines.test.ts',
  'deploy/test/kafka-log-faults.engines.test.ts',
  'tools/test/engine-chaos.engines.test.ts',
  'deploy/test/migrate-steps.engines.test.ts',
  'platform/test/hot-state-redis.engines.test.ts',
  'aggregator/test/kafka-projections.engines.test.ts',
  'deploy/test/ingest-workers.engines.test.ts',
  'deploy/test/reservations.engines.test.ts',
  'platform/test/event-log-kafka-groups.engines.test.ts',
  'platform/test/hot-state-redis-crash.engines.test.ts',
  'tools/test/engine-failures.engines.test.ts',
  'tools/test/flush-chaos.engines.test.ts',
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
