import { auditPlaces, type AuditPlace, type AuditSeal } from '@tollgate/domain/audit/entry'
import {
  listAuditedProviders,
  listEntriesBetween,
  listSeals,
} from '@tollgate/domain/audit/repository'
import { verifyAuditLog, type VerifiedLog } from '@tollgate/domain/audit/verify-log'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { jsonText, type Output } from '@tollgate/platform/cli/output'
import type { Database } from '@tollgate/platform/database/database'
import type { CliParts } from './open-cli-parts.ts'

type AuditParts = Pick<CliParts, 'database' | 'output'>

export type AuditVerifyOptions = {
  readonly provider?: string
  /** Hash of a seal that the operator noted outside this installation. */
  readonly head?: string
}

/** Verifies the audit log of each provider against its seals and prints one line for each log. Fails if a log does not match. */
export async function verifyAuditCommand(
  { database, output }: AuditParts,
  { provider, head }: AuditVerifyOptions,
): Promise<void> {
  const logs: { providerId: string; place: AuditPlace; verified: VerifiedLog }[] = []
  let isHeadFound = false
  for (const place of auditPlaces) {
    const sql = poolOf(database, place)
    const providers = provider === undefined ? await listAuditedProviders(sql) : [provider]
    for (const providerId of providers) {
      const verified = await verifyAuditLog(sql, providerId, head)
      logs.push({ providerId, place, verified })
      isHeadFound ||= verified.hasExpected
    }
  }
  output.show({
    json: logs.map(({ providerId, place, verified }) => ({
      providerId,
      place,
      ...verifiedLogToJson(verified),
    })),
    text: logs.map(({ providerId, place, verified }) => {
      return `${providerId}  ${place}  ${describeLog(verified)}`
    }),
  })
  const broken = logs.filter(({ verified }) => verified.broken !== undefined).length
  if (broken > 0)
    throw new CliError(`The audit log was changed: ${broken} broken. See the lines above.`)
  if (head !== undefined && !isHeadFound) {
    throw new CliError(`The audit log was changed: the seal ${head} no longer exists.`)
  }
}

/** Prints entries and seals as lines of JSON, in the order in which a reader can verify them. */
export async function exportAuditCommand(
  { database, output }: AuditParts,
  { provider }: { readonly provider: string },
): Promise<void> {
  for (const place of auditPlaces) {
    const sql = poolOf(database, place)
    let afterId = 0n
    for (;;) {
      const entries = await listEntriesBetween(sql, provider, afterId, idMax, rowsPerPage)
      for (const entry of entries) showLine(output, { type: 'entry', place, ...entry })
      afterId = entries.at(-1)?.id ?? afterId
      if (entries.length < rowsPerPage) break
    }
    let afterNumber = 0n
    for (;;) {
      const seals: AuditSeal[] = await listSeals(sql, provider, afterNumber, rowsPerPage)
      for (const seal of seals) showLine(output, { type: 'seal', place, ...seal })
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

function describeLog({ entries, head, broken }: VerifiedLog): string {
  if (broken !== undefined) {
    const { number, afterId, upToId } = broken.seal
    return `BROKEN at seal ${number}, entries ${afterId + 1n} to ${upToId}: ${broken.reason}`
  }
  return head === undefined
    ? 'nothing sealed yet'
    : `whole  ${entries} ${entries === 1n ? 'entry' : 'entries'}  seal ${head.number} ${head.sha256}`
}

function verifiedLogToJson({ entries, head, broken }: VerifiedLog) {
  const state = broken !== undefined ? 'broken' : head === undefined ? 'unsealed' : 'whole'
  return {
    state,
    entries,
    head: head === undefined ? null : { number: head.number, sha256: head.sha256 },
    broken:
      broken === undefined
        ? null
        : {
            seal: broken.seal.number,
            fromEntry: broken.seal.afterId + 1n,
            toEntry: broken.seal.upToId,
            reason: broken.reason,
          },
  }
}

/** Prints one line of JSON for each object in every output format, because the whole export is too long for one document. */
function showLine({ print }: Output, value: object): void {
  print(jsonText(value))
}
