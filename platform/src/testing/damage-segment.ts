export { damageSegment, sealedSegments } from '../chaos/damage-segment.ts'
