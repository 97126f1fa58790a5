import { nearestName } from '@tollgate/schemas/nearest-name'
import { settingsSections } from '../settings/settings-sections.ts'
import { StartRefusedError } from './start-refused.ts'

/** Variables of `deploy/compose.yaml`. A shell may have loaded its `.env` file. */
const composeVariables = ['TOLLGATE_VERSION']

/** Prefix of variables that only tests read. */
const testPrefix = 'TOLLGATE_TEST_'

/**
 * Throws a StartRefusedError that names every `TOLLGATE_…` variable which no program reads, because a misspelled variable has no
 * effect.
 */
export function requireKnownSettings(
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const known = knownVariables()
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('TOLLGATE_') && !name.startsWith(testPrefix) && !known.has(name),
  )
  if (unknown.length === 0) return
  throw new StartRefusedError(unknown.map((name) => unknownLine(name, known)).join('\n'))
}

function knownVariables(): ReadonlySet<string> {
  const settings = settingsSections.flatMap((section) => Object.values(section.settings))
  return new Set([...settings.map(({ variable }) => variable), ...composeVariables])
}

function unknownLine(name: string, known: ReadonlySet<string>): string {
  const nearest = nearestName(name, known)
  const advice =
    nearest === undefined ? 'docs/configuration.md lists all settings.' : `Did you mean ${nearest}?`
  return `Unknown setting ${name}. ${advice} Correct it, or remove it from the environment.`
}
