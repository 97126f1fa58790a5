import type { PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import { modelCostReadingOf, modelCostSchema } from '@tollgate/schemas/http/model-costs'
import type { JsonObject } from '@tollgate/schemas/json-object'
import type { MeterReading } from '@tollgate/schemas/meter-reading'
import { expect, test } from 'vitest'
import { EventMatcher } from './event-matcher.ts'
import { isIssue } from './event-values.ts'

/* Costs of models as counts of an event, by the matcher that ingest uses. */

const timestamp = Date.parse('2026-09-20T09:30:00Z')

const openai = {
  inputTokens: '/usage/prompt_tokens',
  cacheReadTokens: '/usage/cached_tokens',
  outputTokens: '/usage/completion_tokens',
}

/** Vendors that report tokens of caches beside the other input tokens. */
const beside = {
  inputTokens: ['/usage/input_tokens', '/usage/cache_read', '/usage/cache_write'],
  cacheReadTokens: '/usage/cache_read',
  cacheWriteTokens: '/usage/cache_write',
  outputTokens: '/usage/output_tokens',
}

function matcherOf(definition: object, counted = { unpricedCalls: 0 }): EventMatcher {
  const modelCost = modelCostReadingOf('cost', modelCostSchema.parse(definition))
  const dimensions = ['model', 'cost:price']
  const reads: MeterReading = {
    aggregation: 'sum',
    type: 'chat',
    where: {},
    value: [],
    dimensions,
    modelCost,
  }
  const meters: PublishedMeters = { meters: { cost: { reference: 'm', status: 'active', reads } } }
  return new EventMatcher(meters, counted)
}

function match(definition: object, properties: JsonObject, counted?: { unpricedCalls: number }) {
  return matcherOf(definition, counted).match({ type: 'chat', value: 0, timestamp, properties })
}

const gpt = {
  model: 'gpt-4o',
  usage: { prompt_tokens: 1_000, cached_tokens: 400, completion_tokens: 100 },
}

test('counts the cost in 10^-12 dollars, with the version of the list', () => {
  expect(match(openai, gpt)).toEqual({
    counts: [{ meterName: 'cost', value: 3_000_000_000, text: null }],
    dimensions: { model: 'gpt-4o', 'cost:price': 'genai-prices@0.1.8' },
  })
})

test('counts cached tokens once, whether the vendor includes them in the input or not', () => {
  const usage = { input_tokens: 600, cache_read: 400, output_tokens: 100 }
  expect(match(beside, { model: 'gpt-4o', usage })).toEqual(match(openai, gpt))
  const wrong = match(openai, { model: 'gpt-4o', usage: { prompt_tokens: 1, cached_tokens: 2 } })
  expect(isIssue(wrong) && wrong.message).toContain('more than all input tokens')
})

test('uses own prices before the list, and the price of any model after it', () => {
  const prices = [
    { model: 'gpt-4o', input: '2', cacheRead: '0.5', output: '8' },
    { model: '*', input: '100', output: '0.000000000001' },
  ]
  const costOf = (properties: JsonObject) => {
    const matched = match({ ...openai, prices }, properties)
    return isIssue(matched) ? matched : [matched.counts[0]!.value, matched.dimensions['cost:price']]
  }
  expect(costOf(gpt)).toEqual([600 * 2e6 + 400 * 5e5 + 100 * 8e6, 'own'])
  const usage = { prompt_tokens: 1 }
  expect(costOf({ model: 'gpt-4o-mini', usage })).toEqual([150_000, 'genai-prices@0.1.8'])
  expect(costOf({ model: 'ours', usage })).toEqual([100e6, 'own'])
  expect(costOf({ usage })).toEqual([100e6, 'own'])
  // The list has no price of the output of an embedding.
  const embedding = { prompt_tokens: 1, completion_tokens: 1_000_000 }
  expect(costOf({ model: 'text-embedding-3-small', usage: embedding })).toEqual([100e6 + 1, 'own'])
})

test('marks a call without a price, counts it in the metric, and refuses it on request', () => {
  const counted = { unpricedCalls: 0 }
  const unknown = { ...gpt, model: 'ours-1', 'cost:price': 'own' }
  expect(match(openai, unknown, counted)).toEqual({
    counts: [{ meterName: 'cost', value: 0, text: null }],
    dimensions: { model: 'ours-1', 'cost:price': 'unpriced' },
  })
  expect(counted).toEqual({ unpricedCalls: 1 })
  const refused = match({ ...openai, unknownModel: 'refuse' }, unknown, counted)
  expect(refused).toMatchObject({ code: 'custom', path: ['model'] })
  expect(isIssue(refused) && refused.message).toContain('the model "ours-1" has no price')
  expect(counted).toEqual({ unpricedCalls: 1 })
})

test.each([
  ['a negative number of tokens', { model: 'gpt-4o', usage: { prompt_tokens: -1 } }],
  ['tokens that are no number', { model: 'gpt-4o', usage: { prompt_tokens: 'many' } }],
  ['a model that is no text', { model: 4, usage: { prompt_tokens: 1 } }],
  ['a model with a long name', { model: 'x'.repeat(257), usage: { prompt_tokens: 1 } }],
  ['a cost above all that a meter counts', { model: 'o1-pro', usage: { prompt_tokens: 6e7 + 1 } }],
])('refuses %s', (_title, properties) => {
  expect(match(openai, properties)).toMatchObject({ code: 'custom' })
})

test('does not count an event without tokens', () => {
  expect(match(openai, { model: 'gpt-4o' })).toEqual({ counts: [], dimensions: {} })
})
