/** One call that has to be recorded. */
export type CallFact = {
  readonly tool: string
  readonly outcome: 'success' | 'fail' | 'paywall'
  /** The client's key with all that it stands for. */
  readonly key: string | undefined
  /** The question that the call is the answer to. All answers to one question may be one call. */
  readonly question: string | undefined
  /** The life of the proxy that served it. */
  readonly life: string
}

/** How many records there may be. Both are the same, unless a proxy could not know of what another one had served. */
export type Bounds = { readonly least: number; readonly most: number }

/** Answers that one key of a client gets for one unit from each life of a proxy. */
const answersPerKey = 4

export function boundsOf(facts: readonly CallFact[]): Bounds {
  const groups = new Map<string, CallFact[]>()
  for (const [place, fact] of facts.entries()) {
    const { outcome, key, question } = fact
    const name = JSON.stringify([outcome, key ?? question ?? place])
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
  const lives = new Map<string, number>()
  for (const { life } of group) lives.set(life, (lives.get(life) ?? 0) + 1)
  const count = group.length
  // Each life of a proxy may take one answer for the call that asked.
  if (key === undefined) return { least: Math.max(1, count - lives.size + 1), most: count }
  if (outcome !== 'success') return { least: 1, most: 1 }
  const beyond = [...lives.values()].map((each) => Math.max(0, each - answersPerKey))
  return {
    least: 1 + beyond.reduce((sum, each) => sum + each, 0),
    most: 1 + Math.max(0, count - answersPerKey),
  }
}
