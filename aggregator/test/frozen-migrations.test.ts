import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { usageMigrations } from '../src/clickhouse/migrate.ts'

/** Migrations never change once they are merged: installations have applied them. A new one adds its line here. */
const frozen: Readonly<Record<string, readonly [single: string, cluster: string]>> = {
  '0001-usage-records': ['02cf63c028e8712b', '62a6498768b4efa8'],
  '0002-usage-by-hour': ['6c0aa3db28582a52', 'd02b4730bd602c6f'],
  '0003-unreadable-records': ['e7c07b87ff3a9c0c', '4fdb64b9bce0d2cb'],
  '0004-credit-debits': ['216f7e553ec06ae5', '4acbefb14a184f64'],
  '0005-signed-records': ['d889c688ce1b9467', 'abcb8f471d2e62ce'],
  '0006-durable-inserts': ['c254307fe941bc29', 'baba2bfdc8582203'],
  '0007-event-counts': ['bcdd28882b67251b', 'eb681e17e41fc92b'],
  '0008-usage-totals': ['cc996872580eef66', '802d942e9b746e23'],
  '0009-negative-debits': ['baa450f9143d1081', 'f8033fc210e306fb'],
  '0010-console-roll-ups': ['00733f695ed554a1', 'b221c0db2bc37169'],
  '0011-daily-usage': ['400fe4f4e1ede542', '1c2c633ec9c3a5ca'],
  '0012-roll-up-tables': ['ee4e702c54d120fb', 'cdfda20610ef87e8'],
  '0013-filled-roll-ups': ['9941c7af2867476d', 'f1b6b4743c235e06'],
}

it('the statements of merged migrations have not changed', () => {
  const hash = (cluster: string | undefined) => (index: number) =>
    createHash('sha256')
      .update(JSON.stringify(usageMigrations[index]!.statements({ database: 'live', cluster })))
      .digest('hex')
      .slice(0, 16)
  const found = usageMigrations.map(({ name }, index) => [
    name,
    [hash(undefined)(index), hash('main')(index)],
  ])
  expect(Object.fromEntries(found)).toEqual(frozen)
})
