import type { Instance } from '../instance/instance.ts'

/** What one kind of hostility came to. */
export type Verdict = {
  /** The figures, for whoever reads the terminal. */
  readonly lines: readonly string[]
  /** Empty when the service withstood. */
  readonly problems: readonly string[]
}

export type Check = (instance: Instance, say: (line: string) => void) => Promise<Verdict>
