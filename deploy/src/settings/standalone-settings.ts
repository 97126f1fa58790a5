import { hungAfterSecondsSetting } from '@tollgate/platform/processes/hung-after-seconds'
import { choiceSetting, integerSetting, pathSetting } from '@tollgate/platform/config/settings'

/** Settings of `npm start` itself. All other variables of the environment are passed to the services unchanged. */
export const standaloneSettings = {
  dataDir: pathSetting(
    'TOLLGATE_DATA_DIR',
    'Folder for all data of the installation; created if missing',
    '.tollgate',
  ),
  port: integerSetting(
    'TOLLGATE_PORT',
    'Public port on the loopback interface; 0 takes any free port',
    8787,
    { min: 0, max: 65_535 },
  ),
  mcpPort: integerSetting(
    'TOLLGATE_MCP_PORT',
    'Port of the MCP proxy on the loopback interface; 0 takes any free port. If this is not set, TOLLGATE_PORT=0 also takes any free port here',
    8788,
    { min: 0, max: 65_535 },
  ),
  clickhousePort: integerSetting(
    'TOLLGATE_CLICKHOUSE_PORT',
    'Port of the embedded ClickHouse on the loopback interface; 0 takes any free port at each start',
    0,
    { min: 0, max: 65_535 },
  ),
  hungAfterSeconds: hungAfterSecondsSetting,
  demoPage: choiceSetting(
    'TOLLGATE_DEMO_PAGE',
    'Whether the page at `/` shows the sandbox key of the demo provider and opens hosted pages of its customer, for browsers on this machine; every user of the machine can open the page',
    ['yes', 'no'],
    'yes',
  ),
  logLevel: choiceSetting(
    'TOLLGATE_LOG_LEVEL',
    'Least severe level that is logged',
    ['trace', 'debug', 'info', 'warn', 'error'],
    'info',
  ),
}
