#if Terminal
internal import Dispatch
internal import FlyingFox
internal import FlyingSocks
internal import Foundation
internal import Synchronization
internal import ToftEngine

/// Serves the page and its sockets on 127.0.0.1.
package final class StudioServer: Sendable {
    private let files: [StudioFile]
    private let server: HTTPServer
    private let access = Mutex<Access?>(nil)
    private let sockets = Mutex<[ObjectIdentifier: PageSocket]>([:])

    /// - Parameter port: 0 for any that is free.
    /// - Throws: `invalidArgument` if the address can't be used.
    package init(_ files: [StudioFile], port: UInt16) throws {
        self.files = files
        server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), logger: .disabled)
    }

    /// Serves until the task is cancelled.
    /// - Parameter listens: called with the address to open, once it may be opened.
    package func run(_ listens: @escaping @Sendable (_ address: String) -> Void) async throws {
        await server.appendRoute("*", to: Requests(server: self))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [server] in try await server.run() }
            group.addTask { [self] in
                try await server.waitUntilListening()
                guard case .ip4(_, let port)? = await server.listeningAddress else { return }
                let access = Access(port: port)
                self.access.withLock { $0 = access }
                if let address = access.address { listens(address) }
            }
            while try await group.next() != nil {}
        }
    }

    /// Closes the files of all pages. Nothing is served afterwards.
    package func close() {
        let open = sockets.withLock { sockets in
            defer { sockets = [:] }
            return Array(sockets.values)
        }
        for socket in open { socket.close() }
    }

    // MARK: Requests

    private struct Requests: HTTPHandler {
        unowned let server: StudioServer

        func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
            await server.answer(request)
        }
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard let access = access.withLock({ $0 }),
            access.accepts(host: request.headers[.host])
        else { return Self.refusal("Studio answers at 127.0.0.1 alone.") }
        var response = await answer(request, access)
        for (name, value) in PageFile.headers(origin: access.origin) {
            response.headers[HTTPHeader(name)] = value
        }
        return response
    }

    private func answer(_ request: HTTPRequest, _ access: Access) async -> HTTPResponse {
        guard request.method == .GET else {
            return HTTPResponse(statusCode: .methodNotAllowed)
        }
        guard request.path == "/socket" else {
            guard let file = PageFile(path: request.path) else {
                return HTTPResponse(statusCode: .notFound)
            }
            return HTTPResponse(
                statusCode: .ok, headers: [.contentType: file.type], body: Data(file.bytes))
        }
        let origin = request.headers[HTTPHeader("Origin")]
        let given = request.query.first { $0.name == "key" }?.value
        let key = self.access.withLock { $0?.enter(origin: origin, key: given) }
        guard let key else { return Self.refusal("This page has no key to Studio.") }
        let handler = MessageFrameWSHandler(handler: Messages(server: self, key: key))
        let response = try? await WebSocketHTTPHandler(handler: handler).handleRequest(request)
        return response ?? HTTPResponse(statusCode: .badRequest)
    }

    private static func refusal(_ reason: String) -> HTTPResponse {
        HTTPResponse(
            statusCode: .forbidden, headers: [.contentType: "text/plain"], body: Data(reason.utf8))
    }

    // MARK: Sockets

    private struct Messages: WSMessageHandler {
        unowned let server: StudioServer
        let key: String

        func makeMessages(for client: AsyncStream<WSMessage>) async throws
            -> AsyncStream<WSMessage>
        {
            AsyncStream { [server] continuation in
                let socket = PageSocket(server.files) { continuation.yield(.text($0)) }
                server.sockets.withLock { $0[ObjectIdentifier(socket)] = socket }
                let entered = JSONValue.object([("event", .text("entered")), ("key", .text(key))])
                continuation.yield(.text("\(entered)"))
                let reading = Task {
                    for await message in client {
                        if case .text(let text) = message { socket.receive(text) }
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in
                    reading.cancel()
                    server.forget(socket)
                }
            }
        }
    }

    private func forget(_ socket: PageSocket) {
        sockets.withLock { $0[ObjectIdentifier(socket)] = nil }
        socket.close()
    }
}

/// One conversation on a queue of its own, which all its calls go through.
///
/// `@unchecked Sendable`: the conversation is used on the queue alone.
private final class PageSocket: @unchecked Sendable {
    private let queue = DispatchQueue(label: "toft.studio")
    private var conversation: Conversation?

    fileprivate init(_ files: [StudioFile], send: @escaping Conversation.Sending) {
        conversation = Conversation(files, send: send) { [weak self] in self?.dispatch() }
    }

    func receive(_ text: String) { queue.async { self.conversation?.receive(text) } }

    /// Waits for what is under way, and closes the files.
    func close() {
        queue.sync {
            conversation?.close()
            conversation = nil
        }
    }

    private func dispatch() { queue.async { self.conversation?.dispatch() } }
}
#endif
