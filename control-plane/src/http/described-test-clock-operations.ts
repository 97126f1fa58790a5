import { operation, type DescribedOperation } from './described-operation.ts'

const clock = '/v1/ui/test-clocks/{testClockRef}'

/** Operations of test clocks. */
export const describedTestClockOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/ui/test-clocks': operation('listTestClocks', 'List test clocks'),
  'post /v1/ui/test-clocks': operation('createTestClock', 'Create a test clock', 409),
  [`get ${clock}`]: operation('getTestClock', 'Get a test clock', 404),
  [`post ${clock}/advance`]: operation('advanceTestClock', 'Advance a test clock', 404, 409),
  [`post ${clock}/pause`]: operation('pauseTestClock', 'Pause a test clock', 404, 409),
  [`post ${clock}/resume`]: operation('resumeTestClock', 'Resume a test clock', 404, 409),
  [`delete ${clock}`]: operation('deleteTestClock', 'Delete a test clock', 404, 409),
}
