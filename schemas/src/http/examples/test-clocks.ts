import {
  testClockAdvanceSchema,
  testClockCreateSchema,
  testClockDeletedSchema,
  testClockSchema,
  testClocksResponseSchema,
  type TestClockBody,
} from '../test-clocks.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const clock: TestClockBody = {
  reference: refs.testClock,
  name: 'A year of Pro',
  status: 'ready',
  frozenTime: '2027-01-01T00:00:00.000Z',
  createdAt: instants.created,
  deletesAt: '2026-03-31T09:30:00.000Z',
}

const advance = { from: clock.frozenTime, to: '2028-01-01T00:00:00.000Z', progress: 0.25 }
const moving: TestClockBody = {
  ...clock,
  status: 'advancing',
  frozenTime: '2027-04-02T06:00:00.000Z',
  advance,
}

const answer = examplesOf(testClockSchema, {
  Ready: clock,
  Advancing: moving,
  Failed: {
    ...moving,
    status: 'failed',
    failure: 'usage-billing of pur_6WD3NX8KQ1ZV: ClickHouse does not answer',
  },
})

export const testClockExamples = {
  listTestClocks: {
    answer: examplesOf(testClocksResponseSchema, { One: { testClocks: [clock] } }),
  },
  createTestClock: {
    body: examplesOf(testClockCreateSchema, {
      'From new year on': { frozenTime: '2027-01-01T00:00:00Z', name: 'A year of Pro' },
    }),
    answer: examplesOf(testClockSchema, { Created: clock }),
  },
  getTestClock: { answer },
  advanceTestClock: {
    body: examplesOf(testClockAdvanceSchema, { 'A year': { to: '2028-01-01T00:00:00Z' } }),
    answer: examplesOf(testClockSchema, { Advancing: moving }),
  },
  pauseTestClock: {
    answer: examplesOf(testClockSchema, { Paused: { ...moving, status: 'paused' } }),
  },
  resumeTestClock: { answer: examplesOf(testClockSchema, { Advancing: moving }) },
  deleteTestClock: {
    answer: examplesOf(testClockDeletedSchema, { Deleted: { success: true } }),
  },
}
