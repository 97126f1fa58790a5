import { z } from 'zod'
import { hasTestClocks } from '@tollgate/domain/test-clocks/customer-time'
import {
  advanceTestClock,
  createTestClock,
  pauseTestClock,
  resumeTestClock,
  type ChangeClockOutcome,
} from '@tollgate/domain/test-clocks/manage-test-clocks'
import { findTestClock, listTestClocks } from '@tollgate/domain/test-clocks/repository'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import { requiredReference } from '@tollgate/schemas/http/fields'
import {
  testClockAdvanceSchema,
  testClockCreateSchema,
  testClockDeletedSchema,
  testClockSchema,
  testClocksResponseSchema,
} from '@tollgate/schemas/http/test-clocks'
import { testClocksMax } from '@tollgate/schemas/limits'
import type { FastifyRequest } from 'fastify'
import type { ApiServer } from '../../access/api-server.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { commit } from '../../access/commit.ts'
import { read } from '../../access/read.ts'
import { deleteTestClock, type ClockDeletionParts } from '../../test-clocks/delete-test-clock.ts'
import { refusals } from '../../errors.ts'
import { testClockToHttp } from '../translate/test-clock.ts'

const path = '/v1/ui/test-clocks'
const params = z.object({ testClockRef: requiredReference })
const tags = ['Test clocks']

export type TestClockParts = ClockDeletionParts & {
  readonly limits: { readonly testClockDays: number }
}

const dayMs = 86_400_000

export function registerTestClockRoutes(app: ApiServer, parts: TestClockParts): void {
  registerReads(app, parts)
  registerChanges(app, parts)
  registerMoves(app, parts)
}

function registerReads(app: ApiServer, parts: TestClockParts): void {
  app.get(
    path,
    { schema: { tags, response: { 200: testClocksResponseSchema } } },
    async (request) => {
      const caller = sandboxCallerOf(request)
      const clocks = await read(parts, caller, (sql) => listTestClocks(sql, caller.providerId))
      return { testClocks: clocks.map(testClockToHttp) }
    },
  )

  app.get(
    `${path}/:testClockRef`,
    { schema: { tags, params, response: { 200: testClockSchema } } },
    async (request) => {
      const caller = sandboxCallerOf(request)
      const { testClockRef } = request.params
      const clock = await read(parts, caller, (sql) =>
        findTestClock(sql, caller.providerId, testClockRef),
      )
      if (clock === undefined) throw refusals.testClockNotFound(testClockRef)
      return testClockToHttp(clock)
    },
  )
}

function registerChanges(app: ApiServer, parts: TestClockParts): void {
  app.post(
    path,
    { schema: { tags, body: testClockCreateSchema, response: { 201: testClockSchema } } },
    async (request, reply) => {
      sandboxCallerOf(request)
      const { name, frozenTime } = request.body
      const wanted = { name: name || null, frozenTime: new Date(frozenTime) }
      const lifetimeMs = parts.limits.testClockDays * dayMs
      const outcome = await commit(parts, operationOf(request, parts.clock), (work) =>
        createTestClock(work, wanted, lifetimeMs),
      )
      switch (outcome.kind) {
        case 'clock':
          return reply.code(201).send(testClockToHttp(outcome.clock))
        case 'time-refused':
          throw refusals.testClockTime(outcome.earliest, outcome.latest)
        case 'too-many':
          throw refusals.tooManyTestClocks(testClocksMax)
      }
    },
  )

  app.delete(
    `${path}/:testClockRef`,
    { schema: { tags, params, response: { 200: testClockDeletedSchema } } },
    async (request) => {
      sandboxCallerOf(request)
      const { testClockRef } = request.params
      const outcome = await deleteTestClock(parts, operationOf(request, parts.clock), testClockRef)
      switch (outcome.kind) {
        case 'deleted':
          return { success: true as const }
        case 'not-found':
          throw refusals.testClockNotFound(testClockRef)
        case 'not-now':
          throw refusals.testClockNotNow(testClockRef, outcome.status)
      }
    },
  )
}

function registerMoves(app: ApiServer, parts: TestClockParts): void {
  const change = async (
    request: FastifyRequest,
    testClockRef: string,
    body: (work: UnitOfWork) => Promise<ChangeClockOutcome>,
  ) => {
    sandboxCallerOf(request)
    const outcome = await commit(parts, operationOf(request, parts.clock), body)
    switch (outcome.kind) {
      case 'clock':
        return testClockToHttp(outcome.clock)
      case 'not-found':
        throw refusals.testClockNotFound(testClockRef)
      case 'not-now':
        throw refusals.testClockNotNow(testClockRef, outcome.clock.status)
      case 'time-refused':
        throw refusals.testClockTime(outcome.earliest, outcome.latest)
    }
  }
  const answer = { 200: testClockSchema }

  app.post(
    `${path}/:testClockRef/advance`,
    { schema: { tags, params, body: testClockAdvanceSchema, response: answer } },
    (request) => {
      const { testClockRef } = request.params
      const to = new Date(request.body.to)
      return change(request, testClockRef, (work) => advanceTestClock(work, testClockRef, to))
    },
  )

  const moves = { pause: pauseTestClock, resume: resumeTestClock }
  for (const [name, move] of Object.entries(moves)) {
    app.post(
      `${path}/:testClockRef/${name}`,
      { schema: { tags, params, response: answer } },
      (request) => {
        const { testClockRef } = request.params
        return change(request, testClockRef, (work) => move(work, testClockRef))
      },
    )
  }
}

/** Refuses live keys: time does not stand still for real customers. */
function sandboxCallerOf(request: FastifyRequest): Caller {
  const caller = callerOf(request)
  if (!hasTestClocks(caller.environment)) throw refusals.sandboxOnly()
  return caller
}
