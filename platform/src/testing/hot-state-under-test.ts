import type { HotState } from '../hot-state/hot-state.ts'

export type HotStateUnderTest = {
  readonly hot: HotState
  /** The same state as another process sees it. */
  readonly openReader: () => Promise<HotState>
  /** Everything in it is lost; `hot` may be another one then. */
  readonly lose: () => Promise<void>
  readonly destroy: () => Promise<void>
}
