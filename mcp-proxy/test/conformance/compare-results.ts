import type { CaseResult } from './run-suite.ts'

type Results = ReadonlyMap<string, CaseResult>

/** Intended differences between the proxy and the origin, by scenario. */
const intended: Readonly<Record<string, string>> = {
  'server-sse-polling':
    'The proxy resumes streams of origins by itself, and sends no event ids that it could not replay.',
}

/** Returns one line for each scenario whose checks differ through the proxy, except intended differences. */
export function listDifferences(direct: Results, proxied: Results): string[] {
  const names = [...new Set([...direct.keys(), ...proxied.keys()])]
  return names.flatMap((name) => {
    const [here, there] = [direct.get(name), proxied.get(name)]
    const isEqual = here?.checks.join() === there?.checks.join()
    // An intended difference may cause a warning but not a failure.
    if (isEqual || (intended[name] !== undefined && there?.verdict === 'warned')) return []
    const found = there?.findings.join('; ') ?? ''
    return [
      `${name}: ${here?.verdict ?? 'not run'} directly, ${there?.verdict ?? 'not run'} through the proxy. ${found}`,
    ]
  })
}

/** Returns a table of the scenarios, with the result of each directly and through the proxy. */
export function describeResults(title: string, direct: Results, proxied: Results): string {
  const width = Math.max(...[...direct.keys()].map((name) => name.length))
  const lines = [...direct].map(([name, { verdict }]) => {
    const reason = intended[name] === undefined ? '' : `  ${intended[name]}`
    return `  ${name.padEnd(width)}  ${verdict.padEnd(6)}  ${proxied.get(name)?.verdict ?? 'not run'}${reason}`
  })
  return [`${title}: scenario, directly, through the proxy`, ...lines].join('\n')
}

/** Returns the findings of failed scenarios, without those of `expected`. */
export function failuresIn(
  results: Results,
  expected: ReadonlySet<string>,
): Record<string, readonly string[]> {
  return Object.fromEntries(
    [...results]
      .filter(([name, { verdict }]) => verdict === 'failed' && !expected.has(name))
      .map(([name, { findings }]) => [name, findings]),
  )
}
