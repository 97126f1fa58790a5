import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrationsFolder } from '@tollgate/domain/postgres/migrations-folder'
import { readSettings } from '@tollgate/platform/config/settings'
import { openEventLogForWriting } from '@tollgate/platform/event-log/open-event-log'
import { createLogger } from '@tollgate/platform/observability/logger'
import { openOwned, type Own } from '@tollgate/platform/service/open-owned'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { startTestDatabase } from '@tollgate/platform/testing/embedded-servers'
import { deleteTopics } from '@tollgate/platform/testing/kafka-under-test'
import { environments } from '@tollgate/schemas/environment'
import { meterEventValues } from '@tollgate/schemas/meter-event-values'
import { usageTopic } from '@tollgate/schemas/topics'
import { createSeededRandom } from '../../tools/src/client/seeded-random.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { targetSettings } from '../src/migrate/settings.ts'
import type { Source } from '../src/migrate/source/source.ts'
import { beginLog, firstMovedOffset } from '../src/migrate/steps/begin-log.ts'
import { moveDatabase } from '../src/migrate/steps/move-database.ts'
import { moveRows } from '../src/migrate/steps/move-rows.ts'
import { moveTail } from '../src/migrate/steps/move-tail.ts'
import { moveUnreadable } from '../src/migrate/steps/move-unreadable.ts'
import { beginMove, findMove } from '../src/migrate/target/journal.ts'
import {
  requireEmptyDatabase,
  requireEmptyLog,
  requireEmptyUsageStore,
} from '../src/migrate/target/require-empty.ts'
import type { Target } from '../src/migrate/target/target.ts'
import { compareSides } from '../src/migrate/verify/compare.ts'
import type { Work } from '../src/migrate/work.ts'
import { ProcessKilledError, failingTarget } from './migrate/failing-target.ts'
import { openTestSource, openUsageStore } from './migrate/test-source.ts'

const brokers = process.env['TOLLGATE_TEST_KAFKA_BROKERS'] ?? ''
const registry = process.env['TOLLGATE_TEST_SCHEMA_REGISTRY_URL'] ?? ''
const missing = brokers === '' || registry === ''
const title = missing
  ? ' (left out without TOLLGATE_TEST_KAFKA_BROKERS, TOLLGATE_TEST_SCHEMA_REGISTRY_URL)'
  : ''
const timeout = 300_000
const work: Work = {
  signal: new AbortController().signal,
  expect: () => undefined,
  advance: () => undefined,
}

describe.skipIf(missing)(`the steps of a move${title}`, () => {
  const random = createSeededRandom(5)
  let folder: TemporaryFolder
  let source: Source & { close(): Promise<void> }
  let target: Target & { close(): Promise<void> }

  beforeAll(async () => {
    folder = await makeTemporaryFolder('migrate-steps')
    source = await openTestSource(folder.path, random)
    target = await openOwned(openTestTarget)
  }, timeout)

  afterAll(async () => {
    await target.close()
    await source.close()
    await folder.remove()
  })

  async function openTestTarget(own: Own): Promise<Target> {
    const started = await startTestDatabase(migrationsFolder)
    await own({ close: () => started.stop() })
    // Like the command, it uses the owner role, because it copies into the owner's tables.
    const database = await own(
      createPostgresDatabase({ url: started.url, isOwner: true, poolMax: 3 }),
    )
    const { usageStore } = await openUsageStore(join(folder.path, 'target'), own)
    const prefix = `test-${randomBytes(6).toString('hex')}.`
    const config = readSettings(targetSettings, {
      TOLLGATE_EVENT_LOG: 'kafka',
      TOLLGATE_KAFKA_BROKERS: brokers,
      TOLLGATE_KAFKA_NAME_PREFIX: prefix,
      TOLLGATE_KAFKA_REPLICATION: '1',
      TOLLGATE_KAFKA_MIN_IN_SYNC: '1',
      TOLLGATE_LOG_PARTITIONS: '2',
      TOLLGATE_SCHEMA_REGISTRY_URL: registry,
      TOLLGATE_DATABASE_URL: 'unused',
      TOLLGATE_CLICKHOUSE_URL: 'unused',
    })
    await own({ close: () => deleteTopics(brokers.split(','), prefix) })
    const topics = environments.map(usageTopic)
    const logger = createLogger('test', 'fatal')
    const { log, schemaId } = await own(
      openEventLogForWriting(config, { topics, values: meterEventValues, logger }),
    )
    await beginMove(database.control, source)
    return {
      database,
      usageStore,
      log,
      schemaId,
      partitionCount: () => 2,
      journal: await persistentJournal(database.control),
    }
  }

  /** Returns the journal as the next process reads it. */
  async function persistentJournal(sql: Target['database']['control']): Promise<Target['journal']> {
    const found = await findMove(sql, source)
    if (found.kind !== 'ours') throw new Error(`the move is ${found.kind}`)
    return found.journal
  }

  async function moveAll(to: Target): Promise<void> {
    await moveDatabase(source, to, work)
    await moveRows(source, to, work, { rowsMax: 60, bytesMax: 20_000 })
    await moveUnreadable(source, to, work)
    await beginLog(to, work)
    await moveTail(source, to, work)
  }

  it('give the same result wherever the process dies', { timeout }, async () => {
    let deaths = 0
    for (;;) {
      const journal = await persistentJournal(target.database.control)
      const effectsMax = 5 + deaths * 4
      try {
        await moveAll(failingTarget({ ...target, journal }, random, effectsMax))
        break
      } catch (error) {
        if (!(error instanceof ProcessKilledError)) throw error
        deaths += 1
      }
    }
    expect(deaths).toBeGreaterThan(10)
    const { isSame, report } = await compareSides(source, target)
    expect(isSame, report).toBe(true)
  })

  it('move everything except data that is moved another way', { timeout }, async () => {
    for (const environment of environments) {
      const ids = async ({ usageStore }: Source | Target): Promise<string[]> => {
        const rows = await usageStore.query<{ id: string }>(
          `SELECT id FROM ${environment}.usage_records FINAL ORDER BY id`,
        )
        return rows.map(({ id }) => id)
      }
      // In each of 3 partitions, 10 records are stored ahead of the position, and one of them is not an event.
      const moved = new Set(await ids(target))
      const left = (await ids(source)).filter((id) => !moved.has(id))
      expect(left.length).toBe(27)
      const [waiting] = await target.database.in(environment)<{ total: bigint }[]>`
        select count(*) as total from publications`
      expect(waiting?.total).toBe(0n)
      const [next] = await target.database.in(environment)<{ sequence: bigint }[]>`
        insert into outbox (event_id, provider_id, type, livemode, object, created_at)
        values (${randomUUID()}, 'prov_a', 'test', false, '{}', now()) returning sequence`
      expect(next?.sequence).toBe(17n)
      await target.database.in(environment)`delete from outbox where sequence = 17`
    }
  })

  it('begin usage events and alerts at the first moved record', async () => {
    for (const environment of environments) {
      const rows = await target.database.in(environment)`
        select 'events' as job, log_partition, next_offset from usage_event_positions
        union all select 'alerts', log_partition, next_offset from alert_positions
        order by job, log_partition`
      const partitions = Array.from({ length: target.partitionCount(environment) }, (_, at) => at)
      const begun = (job: string) =>
        partitions.map((partition) => ({
          ...{ job, log_partition: partition, next_offset: BigInt(firstMovedOffset) },
        }))
      expect([...rows]).toEqual([...begun('alerts'), ...begun('events')])
    }
  })

  it('refuse a target that contains an installation', async () => {
    await expect(requireEmptyDatabase(target.database)).rejects.toThrow(/control\.providers/)
    await expect(requireEmptyUsageStore(target.usageStore)).rejects.toThrow(
      /ClickHouse has rows in/,
    )
    await expect(requireEmptyLog(target.log)).rejects.toThrow(/tollgate\.usage\.sandbox\/0/)
    const sql = target.database.control
    const kindOf = async (fields: Partial<Source>): Promise<unknown> =>
      findMove(sql, { ...source, ...fields })
    expect(await kindOf({ id: 'another' })).toEqual({ kind: 'another-source' })
    const used = { kind: 'source-changed', isFinished: false }
    expect(await kindOf({ state: 'used since' })).toEqual(used)
    await target.journal.finish(sql)
    expect(await kindOf({ state: 'used since' })).toEqual({ ...used, isFinished: true })
    expect((await persistentJournal(sql)).isFinished).toBe(true)
  })

  it('report a difference between the two sides', { timeout }, async () => {
    const { database, usageStore, log } = target
    // Without this, the audit log would record the change and differ permanently.
    await database.control`alter table providers disable trigger user`
    await database.control`update providers set name = 'changed' where provider_id = 'prov_b'`
    expect((await compareSides(source, target)).report).toMatch(/control\.providers .*DIFFERENT/)
    await database.control`
      update providers set name = ${'Tab\there and \\ "quotes" of prov_b'} where provider_id = 'prov_b'`
    expect((await compareSides(source, target)).isSame).toBe(true)

    await log.appendAll(usageTopic('live'), [{ partition: 1, value: Buffer.from('more') }], 1)
    const one = await compareSides(source, target)
    expect(one.isSame).toBe(false)
    expect(one.report).toContain('in another order')

    await usageStore.command(
      `DELETE FROM live.usage_records WHERE id = (SELECT min(id) FROM live.usage_records)`,
    )
    expect((await compareSides(source, target)).report).toMatch(/live .*BUT/)
  })
})
