import type { HotPlace, HotState } from '@tollgate/platform/hot-state/hot-state'
import type { PublicationState } from './publication-state.ts'

/** What hot state has lost, or may have lost, of its publications. */
export type PublishedLoss =
  | { readonly kind: 'nothing' | 'everything' }
  | { readonly kind: 'some'; readonly isLost: (place: HotPlace) => boolean }

export function judgeLoss(
  { queued, progress, lostPartitions }: PublicationState,
  lives: string,
  hotState: Pick<HotState, 'lostBetween'>,
): PublishedLoss {
  if (isComplete({ progress, lostPartitions })) return { kind: 'nothing' }
  if (queued?.lives === undefined) return { kind: 'everything' }
  // Something was lost, and no server reports that it lost data.
  if (progress === undefined && queued.lives === lives) return { kind: 'everything' }
  const lost = hotState.lostBetween(queued.lives, lives)
  if (lost === 'everything') return { kind: 'everything' }
  return {
    kind: 'some',
    isLost: (place) => lost(place) || lostPartitions.some((each) => isSame(each, place)),
  }
}

export function isComplete({
  progress,
  lostPartitions,
}: Pick<PublicationState, 'progress' | 'lostPartitions'>): boolean {
  return progress !== undefined && lostPartitions.length === 0
}

function isSame(lost: PublicationState['lostPartitions'][number], place: HotPlace): boolean {
  return 'partition' in place && place.space === lost.space && place.partition === lost.partition
}
