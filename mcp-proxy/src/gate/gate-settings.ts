import {
  choiceSetting,
  integerSetting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import { cancelledCallsPolicies } from '@tollgate/schemas/http/mcp'
import { reservationSecondsMax } from '@tollgate/schemas/limits'

/** Settings for the admission of tool calls and for the delivery of their records. */
export const gateSettings = {
  limitsUnknown: choiceSetting(
    'TOLLGATE_MCP_LIMITS_UNKNOWN',
    'What happens to a call of a tool while ingest cannot say whether the customer may go on: refuse answers that it is unavailable, allow lets everybody call, also without a plan',
    ['refuse', 'allow'],
    'refuse',
  ),
  limitsTimeoutMs: integerSetting(
    'TOLLGATE_MCP_LIMITS_TIMEOUT_MS',
    'Milliseconds that ingest may take to say whether a call may go ahead',
    3_000,
    { min: 1, max: 60_000 },
  ),
  limitsPatienceMs: integerSetting(
    'TOLLGATE_MCP_LIMITS_PATIENCE_MS',
    'Milliseconds that a call waits for ingest while a former answer for the customer may still be used; afterwards, calls use it without waiting until ingest answers again',
    250,
    { min: 0, max: 60_000 },
  ),
  limitsFreshMs: integerSetting(
    'TOLLGATE_MCP_LIMITS_FRESH_MS',
    'Milliseconds that an answer of ingest is used for further calls of the same customer, while its cap is far away; 0 asks for each call',
    1_000,
    { min: 0, max: 10_000 },
  ),
  limitsStaleMs: integerSetting(
    'TOLLGATE_MCP_LIMITS_STALE_MS',
    'Milliseconds that such an answer is used at most while ingest cannot say anything newer; 0 never uses it then',
    60_000,
    { min: 0, max: 3_600_000 },
  ),
  holds: choiceSetting(
    'TOLLGATE_MCP_HOLDS',
    'Which calls hold their unit while they run, so that calls in parallel never pass the cap: near those of customers close to it, always all, never none',
    ['near', 'always', 'never'],
    'near',
  ),
  holdBelowUnits: integerSetting(
    'TOLLGATE_MCP_HOLD_BELOW_UNITS',
    'Units that remain of a cap from which on calls hold theirs, where only those close to the cap do',
    100,
    { min: 0, max: 1_000_000 },
  ),
  holdSeconds: integerSetting(
    'TOLLGATE_MCP_HOLD_SECONDS',
    'Seconds that the unit of a running call is held at most; a call that takes longer is counted all the same',
    600,
    { min: 1, max: reservationSecondsMax },
  ),
  cancelledCalls: choiceSetting(
    'TOLLGATE_MCP_CANCELLED_CALLS',
    'Whether calls that the client cancelled are billed where the tool has no policy: never, answered (the whole answer was there), accepted (it had begun), or always',
    cancelledCallsPolicies,
    'answered',
  ),
  clientKeys: choiceSetting(
    'TOLLGATE_MCP_CLIENT_KEYS',
    'Whether a call with the idempotency key and the arguments of an earlier one counts as that one: honour, or ignore where a repeated call costs as much as the first',
    ['honour', 'ignore'],
    'honour',
  ),
  clientKeyRepeats: integerSetting(
    'TOLLGATE_MCP_CLIENT_KEY_REPEATS',
    'How often such a call is free after the first, at all processes of the proxy together; every further one costs as much as the first',
    3,
    { min: 0, max: 1_000 },
  ),
  linksTimeoutMs: integerSetting(
    'TOLLGATE_MCP_LINKS_TIMEOUT_MS',
    'Milliseconds that the control plane may take to make a link for a customer; afterwards a paywall is shown without',
    2_000,
    { min: 1, max: 60_000 },
  ),
  linksKeptSeconds: integerSetting(
    'TOLLGATE_MCP_LINKS_KEPT_SECONDS',
    'Seconds that a link is shown again to the same customer for the same purpose',
    60,
    { min: 0, max: 600 },
  ),
  ingestConnectionsMax: integerSetting(
    'TOLLGATE_MCP_INGEST_CONNECTIONS_MAX',
    'Connections to ingest, and to the control plane',
    64,
    { min: 1, max: 10_000 },
  ),
  journalMebibytesMax: integerSetting(
    'TOLLGATE_MCP_JOURNAL_MEBIBYTES_MAX',
    'Mebibytes of records of calls that wait on the disk for ingest; when it is full, calls are refused before they reach the MCP server',
    1_024,
    { min: 1, max: 1_048_576 },
  ),
  journalSyncMs: integerSetting(
    'TOLLGATE_MCP_JOURNAL_SYNC_MS',
    'Milliseconds between two syncs of these records to the disk: a power loss takes what came since; 0 never syncs',
    1_000,
    { min: 0, max: 3_600_000 },
  ),
  journalStopGraceMs: integerSetting(
    'TOLLGATE_MCP_JOURNAL_STOP_GRACE_MS',
    'Milliseconds that a stop waits for ingest to take these records; the next start delivers what is left',
    2_000,
    { min: 0, max: 600_000 },
  ),
}

export type GateLimits = SettingValues<typeof gateSettings>
