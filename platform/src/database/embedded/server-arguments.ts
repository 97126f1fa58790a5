import { release } from 'node:os'

export type ServerArguments = {
  readonly dataFolder: string
  readonly port: number
  readonly isDurable: boolean
}

/** Settings travel on the command line, so that a new version's settings also hold for an old data folder. */
export function serverArguments({ dataFolder, port, isDurable }: ServerArguments): string[] {
  const settings: Record<string, string> = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // No socket file: its path would be too long in some folders, and others could reach it in /tmp.
    unix_socket_directories: '',
    fsync: isDurable ? 'on' : 'off',
    full_page_writes: isDurable ? 'on' : 'off',
    synchronous_commit: isDurable ? 'on' : 'off',
    recovery_init_sync_method: reportsErrorsOfSyncfs() ? 'syncfs' : 'fsync',
    // One small machine, shared with everything else: about 100 MB with its caches full.
    shared_buffers: '64MB',
    effective_cache_size: '512MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    max_connections: '80',
    // Parallel workers share memory through /dev/shm, which is tiny in containers.
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',
    io_method: 'sync',
    jit: 'off',
    // As long as it knows nothing of new rows, it reads all of a provider to find one of them.
    autovacuum_naptime: '10s',
    // Nothing replicates from here, and less is written so.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '512MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    logging_collector: 'off',
  }
  return [
    '-D',
    dataFolder,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

/**
 * After a crash PostgreSQL syncs all its files before it recovers. A thousand single syncs, each of which waits for those of
 * the event log and the counters, take a minute while usage comes in; one of the whole file system takes a moment. Linux
 * tells of what could not be written since 5.8 (PostgreSQL's manual, "recovery_init_sync_method").
 */
function reportsErrorsOfSyncfs(): boolean {
  if (process.platform !== 'linux') return false
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 8)
}
