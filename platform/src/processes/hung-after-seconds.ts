import { integerSetting } from '../config/settings.ts'

/** Read by every process that starts others: `npm start`, and ingest with several workers. */
export const hungAfterSecondsSetting = integerSetting(
  'TOLLGATE_HUNG_AFTER_SECONDS',
  'Seconds without an answer after which a process that this one started counts as hung, and is killed and started again',
  15,
  { min: 5, max: 86_400 },
)
