import fc from 'fast-check'

/* An independent model of what people decide about one invoice without tax. Plain numbers of minor units. */

export type ModelStep =
  /** The processor's charge of all that is due. */
  | { readonly kind: 'charged' }
  | { readonly kind: 'voided' }
  | { readonly kind: 'written_off' }
  | { readonly kind: 'paid_outside'; readonly amountMinor?: bigint }
  | { readonly kind: 'credited'; readonly amountMinor?: bigint }
  | {
      readonly kind: 'credited'
      readonly lines: readonly { readonly line: number; readonly amountMinor: bigint }[]
    }

const someAmount = fc.option(fc.bigInt({ min: 1n, max: 6_000n }), { nil: undefined })

export const modelSteps: fc.Arbitrary<readonly ModelStep[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant<ModelStep>({ kind: 'charged' }) },
    { weight: 1, arbitrary: fc.constant<ModelStep>({ kind: 'voided' }) },
    { weight: 1, arbitrary: fc.constant<ModelStep>({ kind: 'written_off' }) },
    {
      weight: 4,
      arbitrary: someAmount.map((amountMinor): ModelStep => ({
        kind: 'paid_outside',
        ...(amountMinor === undefined ? {} : { amountMinor }),
      })),
    },
    {
      weight: 4,
      arbitrary: someAmount.map((amountMinor): ModelStep => ({
        kind: 'credited',
        ...(amountMinor === undefined ? {} : { amountMinor }),
      })),
    },
    {
      weight: 3,
      arbitrary: fc
        .record({
          line: fc.integer({ min: 0, max: 3 }),
          amountMinor: fc.bigInt({ min: 1n, max: 3_000n }),
        })
        .map((line): ModelStep => ({ kind: 'credited', lines: [line] })),
    },
  ),
  { minLength: 1, maxLength: 8 },
)

export type DecisionModel = {
  readonly status: 'open' | 'paid' | 'void' | 'uncollectible'
  readonly total: number
  /** The amounts of the lines, less what was credited of them. */
  readonly lines: readonly number[]
  readonly charged: number
  readonly outside: number
  /** Credited before the payment. */
  readonly credited: number
  /** Credited to the next invoice. */
  readonly balance: number
  readonly accounts: Readonly<Record<string, number>>
}

export function startModel(lines: readonly number[]): DecisionModel {
  const total = lines.reduce((sum, each) => sum + each, 0)
  const nothing = { charged: 0, outside: 0, credited: 0, balance: 0 }
  return withAccounts({ status: 'open', total, lines, ...nothing, accounts: {} })
}

export function modelDue({ total, charged, outside, credited }: DecisionModel): number {
  return total - charged - outside - credited
}

export function decisionModel(model: DecisionModel, step: ModelStep): DecisionModel {
  const due = modelDue(model)
  const isOpen = model.status === 'open'
  switch (step.kind) {
    case 'charged':
      return isOpen || model.status === 'uncollectible'
        ? settled({ ...model, charged: model.charged + due })
        : model
    case 'voided':
      return isOpen && due === model.total ? withAccounts({ ...model, status: 'void' }) : model
    case 'written_off':
      return isOpen && due > 0 ? withAccounts({ ...model, status: 'uncollectible' }) : model
    case 'paid_outside': {
      const amount = Number(step.amountMinor ?? due)
      const isTaken = (isOpen || model.status === 'uncollectible') && amount > 0 && amount <= due
      return isTaken ? settled({ ...model, outside: model.outside + amount }) : model
    }
    case 'credited':
      return credit(model, step)
  }
}

function credit(
  model: DecisionModel,
  step: Extract<ModelStep, { readonly kind: 'credited' }>,
): DecisionModel {
  const isOpen = model.status === 'open'
  if (!isOpen && model.status !== 'paid') return model
  const most = isOpen ? modelDue(model) : model.charged + model.outside
  const left = [...model.lines]
  let taken = 0
  if ('lines' in step) {
    const [{ line, amountMinor }] = step.lines as [{ line: number; amountMinor: bigint }]
    const amount = Number(amountMinor)
    if (amount > (left[line] ?? 0) || (isOpen && amount > most)) return model
    left[line]! -= amount
    taken = amount
  } else {
    const wanted = Math.min(Number(step.amountMinor ?? most), most)
    for (const [at, each] of left.entries()) {
      const part = Math.min(each, wanted - taken)
      left[at]! -= part
      taken += part
    }
    if (taken === 0 || (step.amountMinor !== undefined && taken < Number(step.amountMinor))) {
      return model
    }
  }
  return isOpen
    ? settled({ ...model, lines: left, credited: model.credited + taken })
    : withAccounts({ ...model, lines: left, balance: model.balance + taken })
}

function settled(model: DecisionModel): DecisionModel {
  return withAccounts(modelDue(model) === 0 ? { ...model, status: 'paid' } : model)
}

function withAccounts(model: DecisionModel): DecisionModel {
  const { status, total, charged, outside, credited, balance } = model
  const due = modelDue(model)
  const amounts = {
    receivable: status === 'open' ? due : 0,
    written_off: status === 'uncollectible' ? due : 0,
    revenue: status === 'void' ? 0 : -(total - credited - balance),
    clearing: charged,
    outside,
    carried: -balance,
  }
  return {
    ...model,
    accounts: Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== 0)),
  }
}
