import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { setPasswordPageUrl } from '@tollgate/domain/console/console-pages'
import {
  changeUser,
  inviteUser,
  issuePasswordLink,
  removeUser,
  type PasswordLink,
  type UserManagement,
} from '@tollgate/domain/console/manage-users'
import { listConsoleUsers, type ConsoleUser } from '@tollgate/domain/console/users'
import {
  consoleUserInviteSchema,
  consoleUserRemovedSchema,
  consoleUserSchema,
  consoleUsersResponseSchema,
  consoleUserUpdateSchema,
  passwordLinkSchema,
} from '@tollgate/schemas/http/console-users'
import { requiredReference } from '@tollgate/schemas/http/fields'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ConsoleParts } from '@tollgate/domain/console/console-parts'
import type { UserChangeRefusal } from '@tollgate/schemas/refuse-user-change'
import { refusals } from '../../errors.ts'
import { type RefusalError } from '../../refusal.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { actorOf, callerOf, sessionOf } from '../../access/caller.ts'
import { readControl, type ReadParts } from '../../access/read.ts'
import { consoleUserToHttp } from '../translate/console.ts'

type Parts = ReadParts & {
  readonly clock: Clock
  readonly console: ConsoleParts
  readonly hostedUrl: string
}

const tags = ['Console']
const params = z.object({ userId: requiredReference })
const config = { scope: 'manage' } as const

/**
 * Reading users needs the same scope as changing them. Which user may change which other user is decided in the transaction, after
 * reading all users.
 */
export function registerConsoleUserRoutes(app: ApiServer, parts: Parts): void {
  app.get(
    '/v1/ui/users',
    { config, schema: { tags, response: { 200: consoleUsersResponseSchema } } },
    async (request) => {
      const caller = callerOf(request)
      const users = await readControl(parts, caller, (sql) =>
        listConsoleUsers(sql, caller.providerId),
      )
      return { users: users.map(consoleUserToHttp) }
    },
  )

  app.post(
    '/v1/ui/users',
    {
      config,
      schema: { tags, body: consoleUserInviteSchema, response: { 201: passwordLinkSchema } },
    },
    async (request, reply) => {
      const { email, name = null, role } = request.body
      const fields = { email, name, role }
      const { passwordLinkMs } = parts.console.limits
      const outcome = await inviteUser(managementOf(parts, request), fields, passwordLinkMs)
      if (outcome.kind === 'email-taken') throw refusals.consoleUserEmailTaken(email)
      if (outcome.kind !== 'invited') throw refusalFor(outcome.kind, request)
      return reply.code(201).send(linkToHttp(parts, outcome.user, outcome.link))
    },
  )

  registerChanges(app, parts)
}

function registerChanges(app: ApiServer, parts: Parts): void {
  app.patch(
    '/v1/ui/users/:userId',
    {
      config,
      schema: { tags, params, body: consoleUserUpdateSchema, response: { 200: consoleUserSchema } },
    },
    async (request) => {
      const { userId } = request.params
      const outcome = await changeUser(managementOf(parts, request), userId, request.body)
      if (outcome.kind !== 'updated') throw refusalFor(outcome.kind, request, userId)
      return consoleUserToHttp(outcome.user)
    },
  )

  app.post(
    '/v1/ui/users/:userId/password-link',
    { config, schema: { tags, params, response: { 201: passwordLinkSchema } } },
    async (request, reply) => {
      const { userId } = request.params
      const { passwordLinkMs } = parts.console.limits
      const management = managementOf(parts, request)
      const outcome = await issuePasswordLink(management, userId, passwordLinkMs)
      if (outcome.kind !== 'linked') throw refusalFor(outcome.kind, request, userId)
      return reply.code(201).send(linkToHttp(parts, outcome.user, outcome.link))
    },
  )

  app.delete(
    '/v1/ui/users/:userId',
    { config, schema: { tags, params, response: { 200: consoleUserRemovedSchema } } },
    async (request) => {
      const { userId } = request.params
      const outcome = await removeUser(managementOf(parts, request), userId)
      if (outcome.kind !== 'removed') throw refusalFor(outcome.kind, request, userId)
      return { success: true as const }
    },
  )
}

function managementOf(
  { database, clock }: ReadParts & { readonly clock: Clock },
  request: FastifyRequest,
): UserManagement {
  const { providerId, userId } = sessionOf(request)
  return {
    database,
    providerId,
    actorId: userId,
    actor: actorOf(request),
    now: new Date(clock.now()),
  }
}

function refusalFor(kind: UserChangeRefusal, request: FastifyRequest, userId = ''): RefusalError {
  switch (kind) {
    case 'not-found':
      return refusals.consoleUserNotFound(userId)
    case 'role-too-low':
      return refusals.roleTooLow(sessionOf(request).role)
    case 'last-owner':
      return refusals.lastOwner()
  }
}

function linkToHttp(
  { hostedUrl }: { readonly hostedUrl: string },
  user: ConsoleUser,
  { token, expiresAt }: PasswordLink,
): z.infer<typeof passwordLinkSchema> {
  const url = setPasswordPageUrl(hostedUrl, token)
  return {
    user: consoleUserToHttp(user),
    passwordLink: { url, expiresAt: expiresAt.toISOString() },
  }
}
