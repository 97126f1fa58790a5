import { z } from 'zod'
import { isStorableText } from '../json-object.ts'
import { dimensionCharsMax, modelPricesMax, propertiesMax, referenceCharsMax } from '../limits.ts'
import type { ModelCostReading } from '../meter-reading.ts'
import { isPointer, isProperty } from '../property-path.ts'
import { requiredReference } from './fields.ts'

/*
 * `modelCost` of a meter: the meter counts what a call of a language model costs the provider, computed from the tokens in the event.
 */

const pointer = z.string().refine((text) => isStorableText(text) && isPointer(text), {
  error: 'Expected a JSON pointer such as "/usage/input_tokens"',
})

/** One JSON pointer, or several whose values are added. */
const pointers = z.union([pointer, z.array(pointer).min(1).max(propertiesMax)])

/** US dollars per million tokens, as decimal text. */
const priceText = z.string().regex(/^\d{1,6}(?:\.\d{1,12})?$/, {
  error: 'Expected decimal text with at most 12 decimals, such as "2.5"',
})

export const unknownModelRules = ['record', 'refuse'] as const
export type UnknownModelRule = (typeof unknownModelRules)[number]

/** The name of the own price of all models that neither another own price nor the price list has. */
export const anyModel = '*'

/** The value of a cost's price dimension if the model has no price. */
export const unpricedSource = 'unpriced'

const modelPriceSchema = z.object({
  /** The model as events name it, or `*`. */
  model: z.string().min(1).max(dimensionCharsMax),
  input: priceText,
  /** Default: the price of input tokens. */
  cacheRead: priceText.optional(),
  /** Default: the price of input tokens. */
  cacheWrite: priceText.optional(),
  output: priceText,
})

export const modelCostSchema = z.object({
  /** The property with the name of the model. */
  model: z
    .string()
    .refine((text) => isStorableText(text) && isProperty(text), {
      error: `Expected a property name or a JSON pointer of at most ${referenceCharsMax} characters`,
    })
    .default('model'),
  /** The vendor of the models in the price list, such as `openai`. Default: found by the name of the model. */
  provider: requiredReference.optional(),
  /** All input tokens, including those that were read from a cache or written to it. */
  inputTokens: pointers,
  cacheReadTokens: pointers.optional(),
  cacheWriteTokens: pointers.optional(),
  outputTokens: pointers.optional(),
  /** Own prices, which are used before those of the list. */
  prices: z.array(modelPriceSchema).max(modelPricesMax).default([]),
  /**
   * What happens to an event whose model has no price. `record`: its cost is 0 and is marked as unpriced. `refuse`: the event is
   * refused with 400.
   */
  unknownModel: z.enum(unknownModelRules).default('record'),
})

export type ModelCostInput = z.infer<typeof modelCostSchema>

/** The suffix of the dimension that says by which price a cost was computed. */
const priceDimensionSuffix = ':price'

export function priceDimensionOf(meterName: string): string {
  return `${meterName}${priceDimensionSuffix}`
}

type CostMeter = {
  readonly name: string
  readonly event?: unknown
  readonly aggregation: string
  readonly value?: unknown
  readonly modelCost?: ModelCostInput | undefined
}

/** Returns what does not fit together in the definition of a meter of model costs. */
export function faultsOfModelCost({
  name,
  event,
  aggregation,
  value,
  modelCost,
}: CostMeter): { readonly path: readonly string[]; readonly message: string }[] {
  if (modelCost === undefined) return []
  const faults: { path: string[]; message: string }[] = []
  const add = (message: string, ...path: string[]): void =>
    void faults.push({ path: ['modelCost', ...path], message })
  if (event === undefined) add('Only a meter with `event` counts the cost of models')
  if (aggregation !== 'sum') add('A meter of model costs has the aggregation sum')
  if (value !== undefined) add('A meter of model costs has no `value`. It counts the cost')
  if (!isProperty(priceDimensionOf(name))) {
    const charsMax = referenceCharsMax - priceDimensionSuffix.length
    add(`The name of a meter of model costs has at most ${charsMax} characters`)
  }
  const models = modelCost.prices.map(({ model }) => model)
  if (new Set(models).size < models.length) add('Each model may have only one price', 'prices')
  return faults
}

function listOf(given: string | readonly string[] | undefined): readonly string[] {
  if (given === undefined) return []
  return typeof given === 'string' ? [given] : given
}

export function modelCostReadingOf(meterName: string, input: ModelCostInput): ModelCostReading {
  return {
    model: input.model,
    provider: input.provider ?? null,
    inputTokens: listOf(input.inputTokens),
    cacheReadTokens: listOf(input.cacheReadTokens),
    cacheWriteTokens: listOf(input.cacheWriteTokens),
    outputTokens: listOf(input.outputTokens),
    prices: input.prices,
    unknownModel: input.unknownModel,
    priceDimension: priceDimensionOf(meterName),
  }
}

export function modelCostToHttp(reading: ModelCostReading): ModelCostInput {
  const { provider, cacheReadTokens, cacheWriteTokens, outputTokens } = reading
  const given = (list: readonly string[]): string | string[] =>
    list.length === 1 ? list[0]! : [...list]
  return {
    model: reading.model,
    ...(provider !== null && { provider }),
    inputTokens: given(reading.inputTokens),
    ...(cacheReadTokens.length > 0 && { cacheReadTokens: given(cacheReadTokens) }),
    ...(cacheWriteTokens.length > 0 && { cacheWriteTokens: given(cacheWriteTokens) }),
    ...(outputTokens.length > 0 && { outputTokens: given(outputTokens) }),
    prices: [...reading.prices],
    unknownModel: reading.unknownModel,
  }
}
