/** One call that must be recorded. */
export type CallFact = {
  readonly tool: string
  readonly outcome: 'success' | 'fail' | 'paywall'
  /** The client's key together with the content that identifies the call. */
  readonly key: string | undefined
  /** Life of the proxy process that served the call. */
  readonly life: string
}

/** Bounds of the recorded units. They differ only if a proxy could not know what another one had served. */
export type Bounds = { readonly least: number; readonly most: number }

/** Number of answers with one client key that cost 1 unit together. */
const answersPerKey = 4

export function boundsOf(facts: readonly CallFact[]): Bounds {
  const groups = new Map<string, CallFact[]>()
  for (const [place, fact] of facts.entries()) {
    const { outcome, key } = fact
    const name = JSON.stringify([outcome, key ?? place])
    groups.set(name, [...(groups.get(name) ?? []), fact])
  }
  const bounds = [...groups.values()].map(boundsOfGroup)
  return {
    least: bounds.reduce((sum, { least }) => sum + least, 0),
    most: bounds.reduce((sum, { most }) => sum + most, 0),
  }
}

function boundsOfGroup(group: readonly CallFact[]): Bounds {
  const [{ key, outcome }] = group as [CallFact]
  if (key === undefined || outcome !== 'success') return { least: 1, most: 1 }
  const lives = new Map<string, number>()
  for (const { life } of group) lives.set(life, (lives.get(life) ?? 0) + 1)
  // A use may be free, because a proxy may have delivered its record on behalf of another proxy that has ended.
  const beyond = [...lives.values()].map((each) => Math.max(0, each - answersPerKey))
  return {
    least: 1 + beyond.reduce((sum, each) => sum + each, 0),
    most: 1 + Math.max(0, group.length - answersPerKey),
  }
}

/** Returns the bounds of the number of records. Each served call has its own record, even if it is free. */
export function recordsOf(facts: readonly CallFact[]): Bounds {
  const { least, most } = boundsOf(facts)
  if (facts.some(({ outcome }) => outcome !== 'success')) return { least, most }
  const isOneLife = new Set(facts.map(({ life }) => life)).size <= 1
  return { least: isOneLife ? facts.length : least, most: facts.length }
}
