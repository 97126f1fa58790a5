import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Tool } from '../catalog/tool.ts'
import { declareTools, mapTools, reconcileTools } from './decide-tools.ts'

const names = {
  refByKey: new Map([
    ['free', 'pln_free'],
    ['pro', 'pln_pro'],
  ]),
  archivedRefs: new Set(['pln_old']),
}

const aTool: fc.Arbitrary<Tool> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  description: fc.constantFrom(null, 'text'),
  access: fc.constantFrom('public' as const, 'every-plan' as const, 'plans' as const),
  planRefs: fc.constantFrom([], ['pln_pro'], ['pln_old']),
  onlyListedPlans: fc.boolean(),
  cancelledCalls: fc.constantFrom(null, 'never' as const, 'always' as const),
  hasVanished: fc.boolean(),
})
const someTools = fc.uniqueArray(aTool, { selector: ({ name }) => name })
const someFound = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'upgrade', 'get_user_info'),
    description: fc.constantFrom(null, 'text'),
  }),
  { selector: ({ name }) => name },
)

const present = (tools: readonly Tool[]): string[] =>
  tools.filter(({ hasVanished }) => !hasVanished).map(({ name }) => name)

test('lists the tools of the MCP server after a discovery, with their access unchanged', () => {
  fc.assert(
    fc.property(someTools, someFound, fc.boolean(), (existing, found, isAutoMapped) => {
      const { tools, added, removed } = reconcileTools(existing, found, isAutoMapped)
      const real = found.map(({ name }): string => name).filter((name) => name.length === 1)
      expect(new Set(present(tools))).toEqual(new Set(real))
      const before = new Set(present(existing))
      expect(new Set(added)).toEqual(new Set(real.filter((name) => !before.has(name))))
      expect(new Set(removed)).toEqual(new Set([...before].filter((name) => !real.includes(name))))
      for (const tool of tools) {
        const was = existing.find(({ name }) => name === tool.name)
        expect(tool.access).toBe(was?.access ?? (isAutoMapped ? 'every-plan' : 'plans'))
        expect(tool.planRefs).toEqual(was?.planRefs ?? [])
        expect(tool.onlyListedPlans).toBe(was?.onlyListedPlans ?? false)
        expect(tool.cancelledCalls).toBe(was?.cancelledCalls ?? null)
      }
      const again = reconcileTools(tools, found, isAutoMapped)
      expect([again.added, again.removed]).toEqual([[], []])
    }),
  )
})

test('replaces the plans of mapped tools, except that archived plans keep their tools', () => {
  const planKeys = fc.subarray(['free', 'pro'])
  fc.assert(
    fc.property(someTools, planKeys, fc.boolean(), (existing, keys, noPlan) => {
      const decision = mapTools(existing, [{ name: 'a', planKeys: keys, noPlan }], names)
      if (decision.kind === 'refused') throw new Error(decision.message)
      const was = existing.find(({ name }) => name === 'a')
      const tool = decision.tools.find(({ name }) => name === 'a')!
      const held = was?.planRefs.includes('pln_old') === true ? ['pln_old'] : []
      const refs = [...keys.map((key) => `pln_${key}`), ...held]
      expect([tool.access, tool.planRefs]).toEqual(noPlan ? ['public', []] : ['plans', refs])
      const others = (tools: readonly Tool[]) => tools.filter(({ name }) => name !== 'a')
      expect(others(decision.tools)).toEqual(others(existing))
    }),
  )
})

test('keeps policies that a mapping does not name', () => {
  const mapped = (existing: readonly Tool[], changes: object) => {
    const decision = mapTools(existing, [{ name: 'a', planKeys: ['pro'], ...changes }], names)
    if (decision.kind === 'refused') throw new Error(decision.message)
    const [{ onlyListedPlans, cancelledCalls }] = decision.tools as [Tool]
    return { tools: decision.tools, policies: [onlyListedPlans, cancelledCalls] }
  }
  expect(mapped([], {}).policies).toEqual([false, null])
  const set = mapped([], { onlyListedPlans: true, cancelledCalls: 'always' })
  expect(set.policies).toEqual([true, 'always'])
  expect(mapped(set.tools, {}).policies).toEqual([true, 'always'])
  const reset = mapped(set.tools, { onlyListedPlans: false, cancelledCalls: null })
  expect(reset.policies).toEqual([false, null])
})

test.each([
  [[{ name: 'a', planKeys: ['gold'] }], 'UNKNOWN_PLAN_KEY'],
  [[{ name: 'a', planRefs: ['pln_pro'] }], 'UNKNOWN_PLAN_REFERENCE'],
  [[{ name: 'a' }, { name: 'b' }, { name: 'a' }], 'DUPLICATE_TOOL_NAME'],
])('refuses %j', (tools, code) => {
  expect(declareTools(tools, names)).toMatchObject({ kind: 'refused', code })
})
