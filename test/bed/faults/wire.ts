// The client's side of the proxy, below TLS: TCP connections that can be cut or fall silent. The bytes go through to a
// local server that knows a connection by the port it comes from.
import { connect, createServer, type Server, type Socket } from 'node:net'

export interface Wire {
  // Both directions are read and thrown away: for the client the peer is there, and says nothing.
  fallSilent(): void
  reset(): void
}

export interface WireOptions {
  readonly innerPort: number
  readonly onConnect: (wire: Wire) => Promise<void> // before the first byte passes
}

export interface WireServer {
  readonly server: Server
  wireFrom(port: number | undefined): Wire | undefined
  all(): readonly Wire[]
  closeAll(): void
}

export function wireServer({ innerPort, onConnect }: WireOptions): WireServer {
  const wires = new Map<number, Wire>()
  const sockets = new Set<Socket>()
  const server = createServer({ pauseOnConnect: true }, (outer) => {
    const inner = connect(innerPort, '127.0.0.1')
    const keep = (socket: Socket) => {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}) // resets are what we are here for
    }
    keep(outer)
    keep(inner)
    let isSilent = false
    const wire: Wire = {
      fallSilent() {
        isSilent = true
        outer.unpipe(inner).resume()
        inner.unpipe(outer).resume()
      },
      reset() {
        outer.resetAndDestroy()
        inner.destroy()
      },
    }
    outer.on('close', () => {
      sockets.delete(outer)
      inner.destroy()
    })
    inner.on('connect', () => {
      const port = inner.localPort ?? 0
      wires.set(port, wire)
      inner.on('close', () => {
        sockets.delete(inner)
        wires.delete(port)
        if (!isSilent) outer.end()
      })
      void onConnect(wire).then(() => {
        if (!isSilent) {
          outer.pipe(inner)
          inner.pipe(outer)
        }
      })
    })
  })
  return {
    server,
    wireFrom: (port) => (port === undefined ? undefined : wires.get(port)),
    all: () => [...wires.values()],
    closeAll() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
