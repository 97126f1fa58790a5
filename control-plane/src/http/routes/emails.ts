import { z } from 'zod'
import type { Email } from '@tollgate/domain/emails/email'
import { findEmail, listEmails, requeueEmail } from '@tollgate/domain/emails/emails-repository'
import {
  listSuppressions,
  removeSuppression,
  suppressAddress,
  type EmailSuppression,
} from '@tollgate/domain/emails/suppressions-repository'
import {
  emailSchema,
  emailsQuerySchema,
  emailsResponseSchema,
  emailSuppressionCreateSchema,
  emailSuppressionSchema,
  emailSuppressionsPageSchema,
  emailSuppressionsQuerySchema,
  type EmailBody,
  type EmailSuppressionBody,
} from '@tollgate/schemas/http/emails'
import { clampPage, requiredReference } from '@tollgate/schemas/http/fields'
import { deletedResponseSchema } from '@tollgate/schemas/http/plans'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf } from '../../access/caller.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { definedFields } from '../../domain/defined-fields.ts'

const tags = ['Emails']

/** Registers the routes that list emails to customers, send one again, and keep the list of suppressed addresses. */
export function registerEmailRoutes(app: ApiServer, parts: ChangeParts): void {
  const params = z.object({ emailId: requiredReference })

  app.get(
    '/v1/ui/emails',
    { schema: { tags, querystring: emailsQuerySchema, response: { 200: emailsResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { providerId } = caller
      const { kind, state, customerRef, before } = request.query
      const { limit } = clampPage(request.query)
      const filter = {
        ...{ kind, state, rowsMax: limit + 1 },
        customerRef: customerRef || undefined,
        before: before || undefined,
      }
      return read(parts, caller, async (sql) => {
        if (filter.before !== undefined && !(await findEmail(sql, providerId, filter.before))) {
          throw refusals.emailPageUnknown(filter.before)
        }
        const found = await listEmails(sql, providerId, filter)
        return { emails: found.slice(0, limit).map(emailToHttp), hasMore: found.length > limit }
      })
    },
  )

  app.get(
    '/v1/ui/emails/:emailId',
    { schema: { tags, params, response: { 200: emailSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const { emailId } = request.params
      const email = await read(parts, caller, (sql) => findEmail(sql, caller.providerId, emailId))
      if (email === undefined) throw refusals.emailNotFound(emailId)
      return emailToHttp(email)
    },
  )

  app.post(
    '/v1/ui/emails/:emailId/resend',
    { schema: { tags, params, response: { 200: emailSchema } } },
    async (request) => {
      const { emailId } = request.params
      const outcome = await commit(
        parts,
        operationOf(request, parts.clock),
        async ({ sql, providerId, now }) => ({
          queued: await requeueEmail(sql, providerId, emailId, now),
          found: await findEmail(sql, providerId, emailId),
        }),
      )
      if (outcome.found === undefined) throw refusals.emailNotFound(emailId)
      if (outcome.queued === undefined) {
        throw refusals.emailNotResendable(emailId, outcome.found.state)
      }
      return emailToHttp(outcome.queued)
    },
  )

  registerSuppressions(app, parts)
}

function registerSuppressions(app: ApiServer, parts: ChangeParts): void {
  const path = '/v1/ui/email-suppressions'
  const params = z.object({ suppressionId: requiredReference })

  app.get(
    path,
    {
      schema: {
        tags,
        querystring: emailSuppressionsQuerySchema,
        response: { 200: emailSuppressionsPageSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const page = clampPage(request.query)
      const filter = { ...page, email: request.query.email || undefined }
      const { suppressions, total } = await read(parts, caller, (sql) =>
        listSuppressions(sql, caller.providerId, filter),
      )
      return { suppressions: suppressions.map(suppressionToHttp), total, ...page }
    },
  )

  app.post(
    path,
    {
      schema: {
        tags,
        body: emailSuppressionCreateSchema,
        response: { 201: emailSuppressionSchema },
      },
    },
    async (request, reply) => {
      const { email, reason, detail = null } = request.body
      const suppression = await commit(parts, operationOf(request, parts.clock), (work) =>
        suppressAddress(work, { email, reason, detail }),
      )
      return reply.code(201).send(suppressionToHttp(suppression))
    },
  )

  app.delete(
    `${path}/:suppressionId`,
    { schema: { tags, params, response: { 200: deletedResponseSchema } } },
    async (request) => {
      const { suppressionId } = request.params
      const isRemoved = await commit(
        parts,
        operationOf(request, parts.clock),
        ({ sql, providerId }) => removeSuppression(sql, providerId, suppressionId),
      )
      if (!isRemoved) throw refusals.emailSuppressionNotFound(suppressionId)
      return { success: true as const }
    },
  )
}

function emailToHttp(email: Email): EmailBody {
  const { reference, kind, eventId, state, attempts, dueAt, createdAt, finishedAt } = email
  const { customerRef, reason, recipient, answer } = email
  return {
    ...{ id: reference, kind, eventId, state, attempts },
    createdAt: createdAt.toISOString(),
    ...definedFields({
      ...{ customerRef, reason, recipient, answer },
      dueAt: state === 'pending' ? dueAt.toISOString() : null,
      finishedAt: finishedAt?.toISOString(),
    }),
  }
}

function suppressionToHttp(suppression: EmailSuppression): EmailSuppressionBody {
  const { reference, email, reason, detail, createdAt } = suppression
  return {
    ...{ id: reference, email, reason },
    createdAt: createdAt.toISOString(),
    ...definedFields({ detail }),
  }
}
