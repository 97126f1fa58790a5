import type { HotState } from '../hot-state/hot-state.ts'

export type HotStateUnderTest = {
  readonly hot: HotState
  /** Opens the same state as another process does. */
  readonly openReader: () => Promise<HotState>
  /** Loses all data; `hot` may be a different object afterwards. */
  readonly lose: () => Promise<void>
  readonly destroy: () => Promise<void>
}
