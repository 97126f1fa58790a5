import { environments, type Environment } from '@tollgate/schemas/environment'
import { formatTable } from '@tollgate/platform/terminal/table'
import type { Source } from '../source/source.ts'
import { movedRecord, openCursors } from '../steps/move-tail.ts'
import { readTail } from '../source/read-tail.ts'
import type { Target } from '../target/target.ts'
import { listSums, type SchemaSum } from './database-sums.ts'
import {
  sumSource,
  sumTarget,
  type ProviderSumName,
  type ProviderSums,
  type SumsByProvider,
} from './usage-sums.ts'

export type Comparison = { readonly isSame: boolean; readonly report: string }

/** Computes the sums of both sides from the stored data and returns them side by side. */
export async function compareSides(source: Source, target: Target): Promise<Comparison> {
  const tables = compareTables(await listSums(source.database), await listSums(target.database))
  const lines: Line[] = []
  let isTailSame = true
  for (const environment of environments) {
    const [left, right] = [
      await sumSource(source, environment),
      await sumTarget(target, environment),
    ]
    lines.push(...compareProviders(environment, left, right))
    isTailSame &&= await isSameTail(source, target, environment)
  }
  const report = [
    formatTable(['table of PostgreSQL', 'rows', 'content'], tables.map(cellsOf)),
    formatTable(
      ['environment', 'provider', ...columns.map(([, title]) => title)],
      lines.map(cellsOf),
    ),
    ...(isTailSame
      ? []
      : ['The records in the log differ from those of the source, or are in another order.']),
  ].join('\n\n')
  return { isSame: isTailSame && [...tables, ...lines].every(({ isSame }) => isSame), report }
}

type Line = { readonly cells: readonly string[]; readonly isSame: boolean }

function cellsOf({ cells }: Line): readonly string[] {
  return cells
}

function compareTables(left: readonly SchemaSum[], right: readonly SchemaSum[]): Line[] {
  return left.map(({ schema, table, rows, sum }) => {
    const other = right.find((each) => each.schema === schema && each.table === table)
    const isSame = other?.rows === rows && other.sum === sum
    const content = other?.sum === sum ? 'the same' : 'DIFFERENT'
    return { cells: [`${schema}.${table}`, pair(rows, other?.rows ?? 0n), content], isSame }
  })
}

const columns: readonly (readonly [ProviderSumName, string, 'count' | 'micros'])[] = [
  ['customers', 'customers', 'count'],
  ['purchases', 'purchases', 'count'],
  ['records', 'records', 'count'],
  ['value', 'value', 'micros'],
  ['countedValue', 'that counts', 'micros'],
  ['debited', 'paid by wallets', 'micros'],
  ['waiting', 'in the log', 'count'],
  ['waitingValue', 'their value', 'micros'],
]

function compareProviders(
  environment: Environment,
  left: SumsByProvider,
  right: SumsByProvider,
): Line[] {
  const providers = [...new Set([...left.keys(), ...right.keys()])].sort()
  return providers.map((providerId) => {
    const [from, to] = [left.get(providerId), right.get(providerId)]
    const cells = columns.map(([name, , kind]) => {
      const show = kind === 'micros' ? units : (count: bigint) => count.toLocaleString('en-US')
      return pair(amountOf(from, name), amountOf(to, name), show)
    })
    const isSame = columns.every(([name]) => amountOf(from, name) === amountOf(to, name))
    return { cells: [environment, providerId || '(none)', ...cells], isSame }
  })
}

function amountOf(sums: ProviderSums | undefined, name: ProviderSumName): bigint {
  return sums?.[name] ?? 0n
}

/** Returns one number if both sides agree, otherwise both numbers. */
function pair(
  left: bigint,
  right: bigint,
  show = (count: bigint) => count.toLocaleString('en-US'),
): string {
  return left === right ? show(left) : `${show(left)} BUT ${show(right)}`
}

/** Formats 10^-6 units as units. */
function units(micros: bigint): string {
  const [sign, digits] = micros < 0n ? ['-', -micros] : ['', micros]
  const rest = String(digits % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const whole = (digits / 1_000_000n).toLocaleString('en-US')
  return `${sign}${whole}${rest === '' ? '' : `.${rest}`}`
}

async function isSameTail(
  source: Source,
  target: Target,
  environment: Environment,
): Promise<boolean> {
  const cursors = await openCursors(target, environment)
  for await (const record of readTail(source, environment)) {
    const moved = movedRecord(record, target, environment)
    const cursor = cursors[moved.partition]!
    if (cursor.isAtEnd || !(await cursor.takeIfEqual(moved))) return false
  }
  return cursors.every((cursor) => cursor.isAtEnd)
}
