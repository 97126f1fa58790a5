import fc from 'fast-check'
import { proxyCount } from './world.ts'
import type { Ending } from './tool-origin.ts'

/** Tool names in calls. The provider has not configured `new`, and `Basic` differs from another name only in case. */
type ToolName = 'open' | 'basic' | 'pro' | 'new' | 'Basic'

export type Era = 'sessions' | 'stateless'

/** Messages that must not run a tool, however the server would parse them. */
const smuggled = [
  'notification',
  'null id',
  'second name',
  'name in other letters',
  'other name in the header',
  'notification in a batch',
  'result beside a method',
  'task',
  'made-up state',
] as const

const strangers = [
  'no token',
  'made-up token',
  'token of another product',
  'token of the other environment',
  'revoked token',
  'session of another customer',
] as const

const changes = [
  'buy pro',
  'activate credits',
  'activate free',
  'cancel',
  'reactivate',
  'refund',
  'grant credits',
] as const

const configurations = [
  'public',
  'every plan',
  'pro alone',
  'default plan alone',
  'drop',
  'bring back',
  'archive pro',
  'suspend product',
  'resume product',
  'delete product',
] as const

type By = { readonly who: number; readonly proxy: number }

/** An action of a customer, its client or the provider. */
export type Step = By &
  (
    | {
        readonly do: 'call'
        readonly tool: ToolName
        readonly era: Era
        readonly ending: Ending
        /** Number of the client's key, or null. Calls with the same key have the same arguments. */
        readonly key: number | null
        readonly opensUrls: boolean
      }
    /** The same call with the same key several times, through alternating proxies or always the same one. */
    | {
        readonly do: 'repeat'
        readonly tool: ToolName
        readonly era: Era
        readonly ending: Ending
        readonly key: number
        readonly count: number
        readonly inTurn: boolean
      }
    /** `state` is the index of a question, newest first. */
    | {
        readonly do: 'answer'
        readonly state: number
        readonly how: 'as asked' | 'other arguments' | 'other tool' | 'changed state'
      }
    | { readonly do: 'calls at once'; readonly tool: ToolName; readonly count: number }
    | { readonly do: 'batch'; readonly tools: readonly ToolName[] }
    | { readonly do: 'hang up'; readonly tool: ToolName; readonly era: Era }
    | { readonly do: 'smuggle'; readonly how: (typeof smuggled)[number]; readonly tool: ToolName }
    | { readonly do: 'stranger'; readonly how: (typeof strangers)[number]; readonly tool: ToolName }
    | { readonly do: 'virtual tool'; readonly name: string }
    | { readonly do: 'change'; readonly change: (typeof changes)[number] }
    | {
        readonly do: 'configure'
        readonly configuration: (typeof configurations)[number]
        readonly tool: 'open' | 'basic' | 'pro'
      }
    | { readonly do: 'restart proxy' }
    | { readonly do: 'cut ingest off' }
  )

const by = { who: fc.constantFrom(0, 0, 1), proxy: fc.nat(proxyCount - 1) }
const tool = fc.constantFrom<ToolName>(
  'basic',
  'basic',
  'basic',
  'pro',
  'pro',
  'open',
  'new',
  'Basic',
)
const era = fc.constantFrom<Era>('sessions', 'stateless')

const ending = fc.constantFrom<Ending>(
  ...([
    'result',
    'result',
    'result',
    'stream',
    'tool error',
    'protocol error',
    'status 500',
  ] as const),
  ...(['broken stream', 'question', 'question', 'two questions'] as const),
)

function step<Do extends Step['do'], Fields extends object>(
  weight: number,
  name: Do,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) {
  const given = { do: fc.constant(name), ...by, ...fields }
  return { weight, arbitrary: fc.record(given) as unknown as fc.Arbitrary<Step> }
}

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  step(12, 'call', {
    ...{ tool, era, ending, opensUrls: fc.boolean() },
    key: fc.constantFrom(null, null, 0, 1),
  }),
  step(3, 'repeat', {
    ...{ tool: fc.constantFrom<ToolName>('basic', 'basic', 'pro'), era, inTurn: fc.boolean() },
    ending: fc.constantFrom<Ending>('result', 'result', 'error at first', 'tool error', 'question'),
    ...{ key: fc.nat(1), count: fc.integer({ min: 2, max: 7 }) },
  }),
  step(5, 'answer', {
    state: fc.constantFrom(0, 0, 1),
    how: fc.constantFrom(
      ...(['as asked', 'as asked', 'as asked', 'other arguments', 'other tool'] as const),
      'changed state' as const,
    ),
  }),
  step(2, 'calls at once', { tool, count: fc.integer({ min: 2, max: 7 }) }),
  step(2, 'batch', { tools: fc.array(tool, { minLength: 1, maxLength: 4 }) }),
  step(2, 'hang up', { tool, era }),
  step(2, 'smuggle', { how: fc.constantFrom(...smuggled), tool }),
  step(2, 'stranger', { how: fc.constantFrom(...strangers), tool }),
  step(1, 'virtual tool', {
    name: fc.constantFrom('get_user_info', 'upgrade', 'manage_account', 'topup'),
  }),
  step(4, 'change', { change: fc.constantFrom(...changes) }),
  step(3, 'configure', {
    configuration: fc.constantFrom(...configurations),
    tool: fc.constantFrom('open' as const, 'basic' as const, 'pro' as const),
  }),
  step(1, 'restart proxy', {}),
  step(1, 'cut ingest off', {}),
)

/** The steps for one product, by round. */
export type Sequence = readonly (readonly Step[])[]

export function anySequence(rounds: number): fc.Arbitrary<Sequence> {
  const round = fc.array(anyStep, { minLength: 1, maxLength: 10, size: 'max' })
  return fc.array(round, { minLength: rounds, maxLength: rounds })
}
