import { missingPrograms } from '../../../tools/src/engines/programs.ts'

/**
 * For suites that start engines themselves, for which containers are no substitute. They are skipped if programs are missing that
 * cannot be installed, and their title names the programs. They are never skipped in CI.
 */
export async function findMissingEngines(): Promise<{
  readonly isLeftOut: boolean
  readonly title: string
}> {
  const missing = process.env['CI'] === 'true' ? [] : await missingPrograms()
  return {
    isLeftOut: missing.length > 0,
    title: missing.length > 0 ? ` (left out without ${missing.join(', ')})` : '',
  }
}
