import { choiceSetting, integerSetting, textSetting } from '../config/settings.ts'

/** Settings with which operators watch a service. Every service has them. */
export const operatorSettings = {
  adminHost: textSetting(
    'TOLLGATE_ADMIN_HOST',
    'Address that the server for health checks and metrics listens on',
    '127.0.0.1',
  ),
  adminPort: integerSetting(
    'TOLLGATE_ADMIN_PORT',
    'Port of the server for health checks and metrics; 0 takes any free port',
    0,
    {
      min: 0,
      max: 65_535,
    },
  ),
  logLevel: choiceSetting(
    'TOLLGATE_LOG_LEVEL',
    'Least severe level that is logged',
    ['trace', 'debug', 'info', 'warn', 'error'],
    'info',
  ),
}
