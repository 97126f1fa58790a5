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
    'What happens to tool calls while ingest cannot answer limit checks: refuse answers that the service is unavailable, allow lets every customer call, even without a plan',
    ['refuse', 'allow'],
    'refuse',
  ),
  limitsTimeoutMs: integerSetting(
    'TOLLGATE_MCP_LIMITS_TIMEOUT_MS',
    'Timeout of a limit check at ingest, in milliseconds',
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
    'Milliseconds for which the result of a limit check is used for further calls of the same customer while the cap is far away; 0 checks the limit for each call',
    1_000,
    { min: 0, max: 10_000 },
  ),
  limitsStaleMs: integerSetting(
    'TOLLGATE_MCP_LIMITS_STALE_MS',
    'Maximum milliseconds for which the last result of a limit check is used while ingest does not answer; 0 never uses an old result',
    60_000,
    { min: 0, max: 3_600_000 },
  ),
  holds: choiceSetting(
    'TOLLGATE_MCP_HOLDS',
    'Which calls hold their unit while they run, so that parallel calls never exceed the cap: near holds for customers who are close to their cap, always holds for all customers, never for none',
    ['near', 'always', 'never'],
    'near',
  ),
  holdBelowUnits: integerSetting(
    'TOLLGATE_MCP_HOLD_BELOW_UNITS',
    'Number of remaining units of a cap below which calls hold their unit if TOLLGATE_MCP_HOLDS is near',
    100,
    { min: 0, max: 1_000_000 },
  ),
  holdSeconds: integerSetting(
    'TOLLGATE_MCP_HOLD_SECONDS',
    'Maximum seconds for which a running call holds its unit; a call that takes longer is counted nevertheless',
    600,
    { min: 1, max: reservationSecondsMax },
  ),
  cancelledCalls: choiceSetting(
    'TOLLGATE_MCP_CANCELLED_CALLS',
    'Whether tool calls that the client cancelled are billed if the tool has no policy of its own: never, answered (only if the whole result had arrived), accepted (only if the response had begun), or always',
    cancelledCallsPolicies,
    'answered',
  ),
  clientKeys: choiceSetting(
    'TOLLGATE_MCP_CLIENT_KEYS',
    'Whether a tool call with the idempotency key and the arguments of an earlier call counts as a repeat of it: honour treats it as a repeat, ignore bills it like the first call',
    ['honour', 'ignore'],
    'honour',
  ),
  clientKeyRepeats: integerSetting(
    'TOLLGATE_MCP_CLIENT_KEY_REPEATS',
    'How many repeats of a call with the same idempotency key are free, over all processes of the proxy; each further repeat costs as much as the first call',
    3,
    { min: 0, max: 1_000 },
  ),
  linksTimeoutMs: integerSetting(
    'TOLLGATE_MCP_LINKS_TIMEOUT_MS',
    'Timeout of a request to the control plane for a link of a customer, in milliseconds; after that, the paywall is shown without a link',
    2_000,
    { min: 1, max: 60_000 },
  ),
  linksKeptSeconds: integerSetting(
    'TOLLGATE_MCP_LINKS_KEPT_SECONDS',
    'Seconds for which the same customer is shown the same link for the same purpose; 0 requests a new link each time',
    60,
    { min: 0, max: 600 },
  ),
  ingestConnectionsMax: integerSetting(
    'TOLLGATE_MCP_INGEST_CONNECTIONS_MAX',
    'Maximum connections to ingest, and the same number to the control plane',
    64,
    { min: 1, max: 10_000 },
  ),
  journalMebibytesMax: integerSetting(
    'TOLLGATE_MCP_JOURNAL_MEBIBYTES_MAX',
    'Maximum mebibytes of usage records that wait in the journal on disk for ingest; when the journal is full, calls are refused before they reach the MCP server',
    1_024,
    { min: 1, max: 1_048_576 },
  ),
  journalSyncMs: integerSetting(
    'TOLLGATE_MCP_JOURNAL_SYNC_MS',
    'Milliseconds between two syncs of the journal to disk. A power loss loses the records since the last sync; 0 never syncs',
    1_000,
    { min: 0, max: 3_600_000 },
  ),
  journalStopGraceMs: integerSetting(
    'TOLLGATE_MCP_JOURNAL_STOP_GRACE_MS',
    'Milliseconds that a stopping proxy waits for ingest to accept the records in the journal; the next start delivers the remaining ones',
    2_000,
    { min: 0, max: 600_000 },
  ),
}

export type GateLimits = SettingValues<typeof gateSettings>
