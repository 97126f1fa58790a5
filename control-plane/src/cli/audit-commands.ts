import { auditPlaces, type AuditPlace, type AuditSeal } from '@tollgate/domain/audit/entry'
import {
  listAuditedProviders,
  listEntriesBetween,
  listSeals,
} from '@tollgate/domain/audit/repository'
import { verifyLog, type VerifiedLog } from '@tollgate/domain/audit/verify-log'
import type { Database } from '@tollgate/platform/database/database'
import { CliError } from './cli-error.ts'
import type { CliParts } from './open-cli-parts.ts'

type AuditParts = Pick<CliParts, 'database' | 'print'>

export type AuditVerifyOptions = {
  readonly provider?: string
  /** The hash of a seal that was noted elsewhere. */
  readonly head?: string
}

/** Prints one line for each log and fails when one of them is not as it was sealed. */
export async function verifyAuditCommand(
  { database, print }: AuditParts,
  { provider, head }: AuditVerifyOptions,
): Promise<void> {
  let broken = 0
  let isHeadFound = false
  for (const place of auditPlaces) {
    const sql = poolOf(database, place)
    const providers = provider === undefined ? await listAuditedProviders(sql) : [provider]
    for (const providerId of providers) {
      const verified = await verifyLog(sql, providerId, head)
      print(`${providerId}  ${place}  ${describe(verified)}`)
      if (verified.broken !== undefined) broken += 1
      isHeadFound ||= verified.hasExpected
    }
  }
  if (broken > 0) throw new CliError(`the audit log was changed: ${broken} broken`)
  if (head !== undefined && !isHeadFound) {
    throw new CliError(`the audit log was changed: there is no seal ${head} any more`)
  }
}

/** Prints entries and seals as lines of JSON, in the order in which they can be verified. */
export async function exportAuditCommand(
  { database, print }: AuditParts,
  { provider }: { readonly provider: string },
): Promise<void> {
  for (const place of auditPlaces) {
    const sql = poolOf(database, place)
    let afterId = 0n
    for (;;) {
      const entries = await listEntriesBetween(sql, provider, afterId, idMax, rowsPerPage)
      for (const entry of entries) print(json({ type: 'entry', place, ...entry }))
      afterId = entries.at(-1)?.id ?? afterId
      if (entries.length < rowsPerPage) break
    }
    let afterNumber = 0n
    for (;;) {
      const seals: AuditSeal[] = await listSeals(sql, provider, afterNumber, rowsPerPage)
      for (const seal of seals) print(json({ type: 'seal', place, ...seal }))
      afterNumber = seals.at(-1)?.number ?? afterNumber
      if (seals.length < rowsPerPage) break
    }
  }
}

const rowsPerPage = 1_000
const idMax = 2n ** 63n - 1n

function poolOf(database: Database, place: AuditPlace) {
  return place === 'control' ? database.control : database.in(place)
}

function describe({ entries, head, broken }: VerifiedLog): string {
  if (broken !== undefined) {
    const { number, afterId, upToId } = broken.seal
    return `BROKEN at seal ${number}, entries ${afterId + 1n} to ${upToId}: ${broken.reason}`
  }
  return head === undefined
    ? 'nothing sealed yet'
    : `whole  ${entries} entries  seal ${head.number} ${head.sha256}`
}

function json(value: object): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? each.toString() : each,
  )
}
