import { z } from 'zod'
import type { NewCorrection } from '@tollgate/domain/usage-corrections/correction'
import { requestCorrection } from '@tollgate/domain/usage-corrections/request-correction'
import {
  findCorrection,
  listChanges,
  listCorrections,
} from '@tollgate/domain/usage-corrections/repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import {
  usageCorrectionCreateSchema,
  usageCorrectionsBatchResponseSchema,
  usageCorrectionsBatchSchema,
  usageCorrectionSchema,
  usageCorrectionsQuery,
  usageCorrectionsResponseSchema,
  type UsageCorrectionBody,
} from '@tollgate/schemas/http/usage-corrections'
import { correctionPastMsMax } from '@tollgate/schemas/limits'
import { InvalidRequestError, refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import type { Previews } from '../../previews/previews.ts'
import type { CorrectionParts } from '../../usage-corrections/correction-parts.ts'
import { previewCorrections } from '../../usage-corrections/preview-correction.ts'
import { waitUntilApplied } from '../../usage-corrections/wait-until-applied.ts'
import {
  changeToHttp,
  correctionFromHttp,
  correctionToHttp,
  requestToHttp,
} from '../translate/usage-correction.ts'

const path = '/v1/sdk/usage-corrections'
const tags = ['Usage']
const params = z.object({ correctionRef: requiredReference })

/** Maximum number of changes in the response about one correction. */
const changesMax = 100

type Parts = ChangeParts & CorrectionParts & { readonly previews: Previews }

/** Registers the routes that request and list corrections of usage. */
export function registerUsageCorrectionRoutes(app: ApiServer, parts: Parts): void {
  app.post(
    path,
    {
      schema: {
        tags,
        body: usageCorrectionCreateSchema,
        response: { 200: usageCorrectionSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { dryRun, ...input } = request.body
      const { idempotencyKey } = operation
      const wanted = correctionFromHttp(input, operation, {
        author: operation.actor.name,
        idempotencyKey,
      })
      requireRecent([wanted], operation.now, [])
      const run = dryRun === true ? previewBodies : storeAndApply
      const [body] = await run(parts, operation, [wanted])
      return body!
    },
  )

  app.post(
    `${path}/batch`,
    {
      schema: {
        tags,
        body: usageCorrectionsBatchSchema,
        response: { 200: usageCorrectionsBatchResponseSchema },
      },
    },
    async (request) => {
      const operation = operationOf(request, parts.clock)
      const { dryRun, corrections } = request.body
      const wanted = corrections.map((input, index) =>
        correctionFromHttp(input, operation, {
          author: operation.actor.name,
          idempotencyKey:
            operation.idempotencyKey === null ? null : `${index}:${operation.idempotencyKey}`,
        }),
      )
      requireRecent(wanted, operation.now, ['corrections'])
      const run = dryRun === true ? previewBodies : storeAndApply
      return { corrections: await run(parts, operation, wanted) }
    },
  )

  registerReads(app, parts)
}

function registerReads(app: ApiServer, parts: Parts): void {
  app.get(
    path,
    {
      schema: {
        tags,
        querystring: usageCorrectionsQuery,
        response: { 200: usageCorrectionsResponseSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const { corrections, total } = await read(parts, caller, (sql) =>
        listCorrections(sql, caller.providerId, page),
      )
      const bodies = corrections.map((each) => {
        const { changes: _, ...body } = correctionToHttp(each, [])
        return body
      })
      return { corrections: bodies, total }
    },
  )

  app.get(
    `${path}/:correctionRef`,
    { schema: { tags, params, response: { 200: usageCorrectionSchema } } },
    (request) => readBody(parts, callerOf(request), request.params.correctionRef),
  )
}

/** Stores all corrections or none, and waits until they are applied, at most `waitMs`. */
async function storeAndApply(
  parts: Parts,
  operation: Operation,
  wanted: readonly NewCorrection[],
): Promise<UsageCorrectionBody[]> {
  const references = await commit(parts, operation, async (work) => {
    const stored: string[] = []
    for (const each of wanted) {
      const outcome = await requestCorrection(work, each)
      if (outcome.kind === 'key-reused') throw refusals.idempotencyKeyReused()
      stored.push(outcome.reference)
    }
    return stored
  })
  await waitUntilApplied(parts, operation, references)
  const bodies: UsageCorrectionBody[] = []
  for (const reference of references) bodies.push(await readBody(parts, operation, reference))
  return bodies
}

async function readBody(
  parts: Parts,
  caller: Caller,
  reference: string,
): Promise<UsageCorrectionBody> {
  const { providerId } = caller
  return read(parts, caller, async (sql) => {
    const correction = await findCorrection(sql, providerId, reference)
    if (correction === undefined) throw refusals.usageCorrectionNotFound(reference)
    return correctionToHttp(correction, await listChanges(sql, providerId, reference, changesMax))
  })
}

async function previewBodies(
  parts: Parts,
  operation: Operation,
  wanted: readonly NewCorrection[],
): Promise<UsageCorrectionBody[]> {
  const outcome = await parts.previews.run(operation, () =>
    previewCorrections(parts, operation, wanted),
  )
  if (outcome.kind === 'too-many') throw refusals.correctionTooLarge(outcome.recordsMax)
  return outcome.previews.map((preview, index) => {
    const { recordsCorrected, recordsSkipped, changes, periods } = preview
    return {
      ...requestToHttp(wanted[index]!),
      ...{ recordsCorrected, recordsSkipped },
      changes: changes.slice(0, changesMax).map(changeToHttp),
      periods,
    }
  })
}

/** Refuses filters that begin before the oldest usage that can be corrected. */
function requireRecent(
  wanted: readonly NewCorrection[],
  now: Date,
  listPath: readonly string[],
): void {
  const issues = wanted.flatMap(({ selection }, index) => {
    if (selection.kind === 'record' || selection.fromMs >= now.getTime() - correctionPastMsMax) {
      return []
    }
    const path = [...listPath, ...(listPath.length === 0 ? [] : [index]), 'filter', 'from']
    return [{ code: 'custom', path, message: 'Usage of more than 13 months ago stays as it is' }]
  })
  if (issues.length > 0) throw new InvalidRequestError(issues)
}
