import type { Database, Queryable } from '@tollgate/platform/database/database'
import { selectPage, type PageRange } from '../postgres/select-page.ts'
import { jsonb } from '../postgres/jsonb.ts'
import type { ComparedKind, Difference, Finding } from './finding.ts'
import type { Gap } from './tallies.ts'

/** Result of one reconciliation for one provider. */
export type ReconciliationSummary = {
  readonly providerId: string
  readonly reference: string
  readonly startedAt: Date
  readonly finishedAt: Date
  readonly comparedFrom: Date
  readonly comparedTo: Date
  readonly compared: Readonly<Partial<Record<ComparedKind, number>>>
  readonly gaps: readonly Gap[]
  readonly found: number
  readonly repaired: number
}

/** A summary with its stored findings. */
export type Reconciliation = ReconciliationSummary & { readonly findings: readonly Finding[] }

type ReconciliationRow = {
  provider_id: string
  reference: string
  started_at: Date
  finished_at: Date
  compared_from: Date
  compared_to: Date
  compared: Partial<Record<ComparedKind, number>>
  gaps: Gap[]
  found: number
  repaired: number
}

type FindingRow = {
  provider_id: string
  kind: ComparedKind
  difference: Difference
  subject: string
  ours: string | null
  theirs: string | null
  since: Date
  is_repaired: boolean
}

/** Maximum number of rows in one statement. */
const rowsAtOnce = 500

/** Stores all reports in one transaction. */
export async function insertReports(
  pool: ReturnType<Database['in']>,
  reports: readonly Reconciliation[],
): Promise<void> {
  if (reports.length === 0) return
  await pool.begin(async (sql) => {
    for (const rows of chunks(reports.map((each) => toRow(sql, each)))) {
      await sql`insert into reconciliations ${sql(rows)}`
    }
    for (const rows of chunks(reports.flatMap(findingRows))) {
      await sql`insert into reconciliation_findings ${sql(rows)}`
    }
  })
}

/** Returns a page of summaries, newest first. */
export async function listReconciliations(
  sql: Queryable,
  providerId: string,
  page: PageRange,
): Promise<{ reconciliations: ReconciliationSummary[]; total: number }> {
  const matching = sql`from reconciliations where provider_id = ${providerId}`
  const order = sql`started_at desc, reference`
  const { rows, total } = await selectPage<ReconciliationRow>(sql, matching, order, page)
  return { reconciliations: rows.map(fromRow), total }
}

export async function findReconciliation(
  sql: Queryable,
  providerId: string,
  reference: string,
): Promise<Reconciliation | undefined> {
  const [row] = await sql<ReconciliationRow[]>`
    select * from reconciliations where provider_id = ${providerId} and reference = ${reference}`
  if (row === undefined) return undefined
  const findings = await sql<FindingRow[]>`
    select * from reconciliation_findings
    where provider_id = ${providerId} and reconciliation_ref = ${reference} order by number`
  return { ...fromRow(row), findings: findings.map(findingFrom) }
}

/** Returns the number of stored findings that the newest report of each provider has not repaired, by kind. */
export async function countUnrepairedFindings(
  sql: Queryable,
): Promise<ReadonlyMap<ComparedKind, number>> {
  const rows = await sql<{ kind: ComparedKind; count: number }[]>`
    select kind, count(*)::int from (
      select distinct on (provider_id) provider_id, reference from reconciliations
      order by provider_id, started_at desc, reference
    ) as newest
    join reconciliation_findings as findings
      on findings.provider_id = newest.provider_id and reconciliation_ref = newest.reference
    where not is_repaired group by kind`
  return new Map(rows.map(({ kind, count }) => [kind, count]))
}

/** Deletes reports started before that time, at most `rowsMax` of them. Returns the number of deleted reports. */
export async function sweepReconciliations(
  sql: Queryable,
  before: Date,
  rowsMax: number,
): Promise<number> {
  const rows = await sql`
    delete from reconciliations where (provider_id, reference) in (
      select provider_id, reference from reconciliations where started_at < ${before}
      limit ${rowsMax})`
  return rows.count
}

function* chunks<Row>(rows: readonly Row[]): Iterable<Row[]> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) yield rows.slice(at, at + rowsAtOnce)
}

function toRow(sql: Queryable, report: Reconciliation) {
  return {
    provider_id: report.providerId,
    reference: report.reference,
    started_at: report.startedAt,
    finished_at: report.finishedAt,
    compared_from: report.comparedFrom,
    compared_to: report.comparedTo,
    compared: jsonb(sql, report.compared),
    gaps: jsonb(sql, report.gaps),
    found: report.found,
    repaired: report.repaired,
  }
}

function findingRows({ providerId, reference, findings }: Reconciliation) {
  return findings.map((finding, number) => ({
    provider_id: providerId,
    reconciliation_ref: reference,
    number,
    kind: finding.kind,
    difference: finding.difference,
    subject: finding.reference,
    ours: finding.ours,
    theirs: finding.theirs,
    since: finding.since,
    is_repaired: finding.isRepaired,
  }))
}

function fromRow(row: ReconciliationRow): ReconciliationSummary {
  return {
    providerId: row.provider_id,
    reference: row.reference,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    comparedFrom: row.compared_from,
    comparedTo: row.compared_to,
    compared: row.compared,
    gaps: row.gaps,
    found: row.found,
    repaired: row.repaired,
  }
}

function findingFrom(row: FindingRow): Finding {
  return {
    providerId: row.provider_id,
    kind: row.kind,
    difference: row.difference,
    reference: row.subject,
    ours: row.ours,
    theirs: row.theirs,
    since: row.since,
    isRepaired: row.is_repaired,
  }
}
