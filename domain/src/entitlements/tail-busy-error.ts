import { UsageBehindError } from './usage-behind-error.ts'

/** The log's tail could not be folded within its time or memory limit. The caller should retry later. */
export class TailBusyError extends UsageBehindError {
  override readonly name: string = 'TailBusyError'
}
