import type { SettingValues } from '@tollgate/platform/config/settings'
import type { Logger } from '@tollgate/platform/observability/logger'
import { openOutbound, type Outbound } from '@tollgate/platform/outbound/open-outbound'
import type { outboundSettings } from '@tollgate/platform/outbound/outbound-settings'
import { taxServiceAnswerBytesMax, type taxServiceSettings } from './tax-service-settings.ts'

/** Opens the clients of tax services, with the rules for URLs of providers and limits of their own. */
export function openTaxServices(
  config: SettingValues<typeof outboundSettings & typeof taxServiceSettings>,
  logger: Logger,
): Outbound {
  const { taxServiceTimeoutMs, taxServiceConnectionsMax } = config
  const limits = {
    outboundTimeoutMs: taxServiceTimeoutMs,
    outboundConnectionsPerOriginMax: taxServiceConnectionsMax,
  }
  return openOutbound({ ...config, ...limits }, taxServiceAnswerBytesMax, logger)
}
