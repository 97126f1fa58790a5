import { setTimeout as sleep } from 'node:timers/promises'
import type { SimulatedClock } from '../store/simulated-clock.ts'
import type { KeyValueStore } from '../store/key-value-store.ts'
import { newId, UnitOfWork } from '../store/unit-of-work.ts'
import { StripeApiError } from '../errors.ts'
import type { Answer } from '../answer.ts'
import { callerOf, requireClientSecret, type Caller } from './caller.ts'
import { expandAll } from './expand.ts'
import type { Fault, Faults } from './faults.ts'
import {
  fingerprintOf,
  keyInUse,
  keyOf,
  findStoredAnswer,
  encodeStoredAnswer,
} from './idempotency.ts'
import { parseForm, type Form } from './read-parameters.ts'
import type { Route } from './route.ts'

export type ApiRequest = {
  readonly method: string
  readonly path: string
  /** The operation, or undefined if the path has none. */
  readonly route: Route | undefined
  /** Segment of the path that matches `:id`. Empty if the operation has none. */
  readonly id: string
  readonly query: string
  readonly body: string
  readonly authorization: string | undefined
  readonly idempotencyKey: string | undefined
}

/** Outcome of a request: an answer, or none. */
export type Reply =
  | {
      readonly kind: 'answer'
      readonly answer: Answer
      readonly requestId: string
      readonly isReplay: boolean
    }
  | { readonly kind: 'reset' }
  | { readonly kind: 'hang' }

export type ApiParts = {
  readonly store: KeyValueStore
  readonly clock: SimulatedClock
  readonly faults: Faults
  /** Idempotency keys of requests in progress. */
  readonly inUse: Set<string>
}

const injectedError: Answer = {
  status: 500,
  body: { error: { type: 'api_error', message: 'An error was injected by the simulator.' } },
}
const rateLimited: Answer = {
  status: 429,
  body: {
    error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests.' },
  },
}

/**
 * Serves one request to Stripe's API. Its effect, its events and the answer stored for its key become durable together or not at
 * all.
 */
export async function serveApi(parts: ApiParts, request: ApiRequest): Promise<Reply> {
  const requestId = newId('req_')
  const answered = (answer: Answer): Reply => ({
    kind: 'answer',
    answer,
    requestId,
    isReplay: false,
  })
  try {
    const call = parseRequest(parts, request)
    const fault = parts.faults.take(request.method, call.route.path)
    if (fault?.kind === 'rate_limit') return answered(rateLimited)
    if (fault?.kind === 'reset_before') return { kind: 'reset' }
    if (fault?.kind === 'hang_before') return { kind: 'hang' }
    if (call.storedKey === undefined)
      return await processRequest(parts, request, call, fault, requestId)
    if (parts.inUse.has(call.storedKey)) throw keyInUse()
    const earlier = findStoredAnswer(
      parts.store,
      call.storedKey,
      call.fingerprint,
      parts.clock.now(),
    )
    if (earlier !== undefined) {
      const { status, body } = earlier
      return applyLateFault(fault, {
        kind: 'answer',
        answer: { status, body },
        requestId,
        isReplay: true,
      })
    }
    parts.inUse.add(call.storedKey)
    try {
      return await processRequest(parts, request, call, fault, requestId)
    } finally {
      parts.inUse.delete(call.storedKey)
    }
  } catch (error) {
    if (!(error instanceof StripeApiError)) throw error
    return answered({ status: error.status, body: { error: error.body } })
  }
}

type ParsedRequest = {
  readonly route: Route
  readonly id: string
  readonly form: Form
  readonly caller: Caller
  readonly storedKey: string | undefined
  readonly fingerprint: string
}

function parseRequest({ store, clock }: ApiParts, request: ApiRequest): ParsedRequest {
  const { method, path, route, id, query, body, idempotencyKey } = request
  const form = parseForm(method === 'POST' ? body : query)
  const caller = callerOf(request.authorization, form['key'])
  if (route === undefined) {
    throw new StripeApiError(
      404,
      {
        type: 'invalid_request_error',
        message: `Unrecognized request URL (${method}: ${path}), or one that the simulator does not know.`,
      },
      false,
    )
  }
  if (caller.isBrowser) {
    const work = new UnitOfWork({ store, mode: caller.mode, nowMs: clock.now() })
    const intent = work.find('payment_intent', id) ?? work.find('setup_intent', id)
    requireClientSecret(route.isForBrowsers, intent?.client_secret, form['client_secret'])
  }
  if (idempotencyKey !== undefined && idempotencyKey.length > 255) {
    throw new StripeApiError(
      400,
      { type: 'invalid_request_error', message: 'Idempotency keys have 255 characters at most.' },
      false,
    )
  }
  const isKeyed = method === 'POST' && idempotencyKey !== undefined
  return {
    route,
    id,
    form,
    caller,
    storedKey: isKeyed ? keyOf(caller.mode, idempotencyKey) : undefined,
    fingerprint: fingerprintOf(method, path, body),
  }
}

async function processRequest(
  parts: ApiParts,
  request: ApiRequest,
  call: ParsedRequest,
  fault: Fault | undefined,
  requestId: string,
): Promise<Reply> {
  const answered = (answer: Answer): Reply => ({
    kind: 'answer',
    answer,
    requestId,
    isReplay: false,
  })
  if (fault?.kind === 'slow') await sleep(fault.delayMs ?? 0)
  if (fault?.kind === 'error_before') {
    const work = openUnitOfWork(parts, request, call, requestId)
    storeAnswer(work, call, injectedError)
    work.commit()
    return answered(injectedError)
  }
  const replacement = fault?.kind === 'error_after' ? injectedError : undefined
  return applyLateFault(fault, answered(execute(parts, request, call, requestId, replacement)))
}

/** Applies a fault that occurs after the effect. */
function applyLateFault(fault: Fault | undefined, reply: Reply): Reply {
  if (fault?.kind === 'reset_after') return { kind: 'reset' }
  if (fault?.kind === 'hang_after') return { kind: 'hang' }
  return reply
}

/** Executes the request and returns its answer, or `replacement` if that is given. */
function execute(
  parts: ApiParts,
  request: ApiRequest,
  call: ParsedRequest,
  requestId: string,
  replacement: Answer | undefined,
): Answer {
  const work = openUnitOfWork(parts, request, call, requestId)
  try {
    const { status, body } = call.route.answer(work, call.id, call.form)
    const answer = replacement ?? { status, body: expandAll(work, body, expandPaths(call.form)) }
    storeAnswer(work, call, answer)
    work.commit()
    return answer
  } catch (error) {
    if (!(error instanceof StripeApiError)) throw error
    const answer = { status: error.status, body: { error: error.body } }
    if (!error.isReplayable) return answer
    // Changes made before the refusal are dropped with their unit of work, so a new one stores the answer.
    const fresh = openUnitOfWork(parts, request, call, requestId)
    storeAnswer(fresh, call, answer)
    fresh.commit()
    return answer
  }
}

function openUnitOfWork(
  { store, clock }: ApiParts,
  { idempotencyKey }: ApiRequest,
  { caller }: ParsedRequest,
  requestId: string,
): UnitOfWork {
  const request = { id: requestId, idempotencyKey }
  return new UnitOfWork({ store, mode: caller.mode, nowMs: clock.now(), request })
}

function storeAnswer(work: UnitOfWork, call: ParsedRequest, answer: Answer): void {
  if (call.storedKey === undefined) return
  work.set(call.storedKey, encodeStoredAnswer(answer, call.fingerprint, work.nowMs))
}

function expandPaths(form: Form): readonly string[] {
  const paths = form['expand']
  return Array.isArray(paths) ? paths.map(String) : []
}
