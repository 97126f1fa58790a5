import type { FastifyRequest } from 'fastify'
import { networkOf } from '@tollgate/platform/service/network-of'
import { countAuthAttempt, type AttemptKind } from '@tollgate/domain/customer-auth/attempts'
import { ProblemError, problems } from '../problem.tsx'
import type { SignInParts, Visitor } from './visitor.ts'

/** Counts an attempt of the caller's network before it is made. If there were too many, ends the request with a page. */
export async function requireAttemptLeft(
  { pages, auth }: SignInParts,
  { caller, frame }: Visitor,
  kind: AttemptKind,
  max: number,
  request: FastifyRequest,
): Promise<void> {
  const windowMs = auth.config.codeWindowMinutes * 60_000
  const sql = pages.publisher.database.in(caller.environment)
  const now = new Date(pages.clock.now())
  const waitMs = await countAuthAttempt(sql, { kind, max, windowMs }, networkOf(request.ip), now)
  if (waitMs !== undefined) throw new ProblemError(problems.tooManyAttempts, frame)
}
