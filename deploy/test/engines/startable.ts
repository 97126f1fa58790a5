import { missingPrograms } from '../../../tools/src/engines/programs.ts'

/**
 * For suites that start engines themselves, which containers cannot stand in for: they are left out where programs are
 * missing that nobody may install, and named in the title. Never in CI.
 */
export async function whatIsMissing(): Promise<{
  readonly isLeftOut: boolean
  readonly title: string
}> {
  const missing = process.env['CI'] === 'true' ? [] : await missingPrograms()
  return {
    isLeftOut: missing.length > 0,
    title: missing.length > 0 ? ` (left out without ${missing.join(', ')})` : '',
  }
}
