import type { Environment } from '@tollgate/schemas/environment'
import { endAfter, withCalls } from '../observability/traced-call.ts'
import type { Span, Tracing } from '../observability/tracing.ts'
import type { PaymentProcessors } from './open-payment-processors.ts'
import type { PaymentProcessor } from './payment-processor.ts'

const tracedCalls = [
  'ensureCustomer',
  'retrieveCustomer',
  'deleteCustomer',
  'listPaymentMethods',
  'retrievePaymentMethod',
  'attachPaymentMethod',
  'detachPaymentMethod',
  'setDefaultPaymentMethod',
  'createSetupIntent',
  'createPaymentIntent',
  'changePaymentIntent',
  'confirmPaymentIntent',
  'cancelPaymentIntent',
  'createRefund',
  'retrieve',
] as const satisfies readonly (keyof PaymentProcessor)[]

const listed = [
  'findPaymentIntents',
  'list',
  'listEvents',
] as const satisfies readonly (keyof PaymentProcessor)[]

type AnyCall = (...given: unknown[]) => unknown

/**
 * Wraps the processors so that every call of a sampled trace has a span with its outcome. A decline is not an error of the call.
 * Spans contain neither customers nor amounts.
 */
export function tracePaymentProcessors(
  tracing: Tracing,
  processors: PaymentProcessors,
): PaymentProcessors {
  const traced = new Map<Environment, PaymentProcessor | undefined>()
  return {
    of: (environment) => {
      if (!traced.has(environment)) {
        const processor = processors.of(environment)
        traced.set(environment, processor && traceProcessor(tracing, environment, processor))
      }
      return traced.get(environment)
    },
    close: () => processors.close(),
  }
}

function traceProcessor(
  tracing: Tracing,
  environment: Environment,
  processor: PaymentProcessor,
): PaymentProcessor {
  const begin = (name: string): Span | undefined =>
    tracing.begin(`${name} ${environment}`, 'client', {
      'peer.service': 'stripe',
      'tollgate.environment': environment,
    })
  const callOf = (name: keyof PaymentProcessor): AnyCall =>
    (processor[name] as AnyCall).bind(processor)
  const tracedCallEntries = tracedCalls.map((name) => {
    const call = callOf(name)
    return [
      name,
      (...given: unknown[]) => {
        const span = begin(name)
        if (span === undefined) return call(...given)
        return endAfter(span, async () => recordOutcome(span, await span.run(() => call(...given))))
      },
    ] as const
  })
  const listing = listed.map((name) => {
    const call = callOf(name)
    return [
      name,
      (...given: unknown[]) =>
        traceIteration(() => begin(name), call(...given) as AsyncIterable<unknown>),
    ] as const
  })
  const calls = Object.fromEntries<unknown>([...tracedCallEntries, ...listing])
  return withCalls(processor, calls as Partial<PaymentProcessor>)
}

function recordOutcome(span: Span, answer: unknown): unknown {
  if (typeof answer === 'object' && answer !== null && 'outcome' in answer) {
    span.set({ 'tollgate.outcome': String(answer.outcome) })
  }
  return answer
}

/** Keeps one span open from the first page to the last requested one. */
async function* traceIteration<Item>(
  begin: () => Span | undefined,
  items: AsyncIterable<Item>,
): AsyncIterable<Item> {
  let span = begin()
  try {
    yield* items
  } catch (error) {
    span?.fail(error)
    span = undefined
    throw error
  } finally {
    // Also runs if the consumer stops early.
    span?.end()
  }
}
