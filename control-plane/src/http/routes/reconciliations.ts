import { z } from 'zod'
import type { Finding } from '@tollgate/domain/reconciliation/finding'
import {
  findReconciliation,
  listReconciliations,
  type ReconciliationSummary,
} from '@tollgate/domain/reconciliation/reports-repository'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  reconciliationSchema,
  reconciliationsPageSchema,
  reconciliationsQuerySchema,
  type ReconciliationFindingBody,
  type ReconciliationSummaryBody,
} from '@tollgate/schemas/http/reconciliations'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { definedFields } from '../../domain/defined-fields.ts'

const params = z.object({ reconciliationRef: requiredReference })

/** Registers the route that lists the differences found in the caller's payments, invoices, wallets and usage. */
export function registerReconciliationRoutes(app: ApiServer, parts: ReadParts): void {
  app.get(
    '/v1/ui/reconciliations',
    {
      schema: {
        tags: ['Billing'],
        querystring: reconciliationsQuerySchema,
        response: { 200: reconciliationsPageSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const { reconciliations, total } = await read(parts, caller, (sql) =>
        listReconciliations(sql, caller.providerId, page),
      )
      return { reconciliations: reconciliations.map(summaryToHttp), total, ...page }
    },
  )

  app.get(
    '/v1/ui/reconciliations/:reconciliationRef',
    { schema: { tags: ['Billing'], params, response: { 200: reconciliationSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { reconciliationRef } = request.params
      const found = await read(parts, caller, (sql) =>
        findReconciliation(sql, caller.providerId, reconciliationRef),
      )
      if (found === undefined) throw refusals.reconciliationNotFound(reconciliationRef)
      return { ...summaryToHttp(found), findings: found.findings.map(findingToHttp) }
    },
  )
}

function summaryToHttp(report: ReconciliationSummary): ReconciliationSummaryBody {
  return {
    reference: report.reference,
    startedAt: report.startedAt.toISOString(),
    finishedAt: report.finishedAt.toISOString(),
    comparedFrom: report.comparedFrom.toISOString(),
    comparedTo: report.comparedTo.toISOString(),
    compared: { ...report.compared },
    gaps: [...report.gaps],
    found: report.found,
    repaired: report.repaired,
  }
}

function findingToHttp(finding: Finding): ReconciliationFindingBody {
  const { kind, difference, reference, ours, theirs, since, isRepaired } = finding
  return {
    kind,
    difference,
    reference,
    ...definedFields({ ours, theirs }),
    since: since.toISOString(),
    repaired: isRepaired,
  }
}
