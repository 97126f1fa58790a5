import { UsageBehindError } from './usage-behind-error.ts'

/** The log's tail could not be folded in time or in the memory that it may take. Try again later. */
export class TailBusyError extends UsageBehindError {
  override readonly name: string = 'TailBusyError'
}
