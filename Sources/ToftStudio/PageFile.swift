/// The files of the page, which are parts of the program.
package struct PageFile: Sendable {
    package let type: String
    package let bytes: [UInt8]

    /// The file at a path of the address; nil if there is none.
    package init?(path: String) {
        switch path {
        case "/": self.init("text/html", PackageResources.index_html)
        case "/studio.css": self.init("text/css", PackageResources.studio_css)
        case "/icon.svg": self.init("image/svg+xml", PackageResources.icon_svg)
        default:
            guard let bytes = Self.modules[path] else { return nil }
            self.init("text/javascript", bytes)
        }
    }

    private init(_ type: String, _ bytes: [UInt8]) {
        self.type = type + "; charset=utf-8"
        self.bytes = bytes
    }

    private static let modules: [String: [UInt8]] = [
        "/main.js": PackageResources.main_js, "/socket.js": PackageResources.socket_js,
        "/elements.js": PackageResources.elements_js, "/values.js": PackageResources.values_js,
        "/table.js": PackageResources.table_js, "/query.js": PackageResources.query_js,
        "/details.js": PackageResources.details_js, "/draft.js": PackageResources.draft_js,
        "/schema.js": PackageResources.schema_js, "/panels.js": PackageResources.panels_js,
    ]

    /// The headers of all answers: the page loads nothing from elsewhere, and no other page shows
    /// it or reads its files.
    package static func headers(origin: String) -> [(name: String, value: String)] {
        let socket = origin.replacing("http:", with: "ws:")
        return [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                    + "connect-src \(socket); base-uri 'none'; form-action 'none'; "
                    + "frame-ancestors 'none'"
            ),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store"),
        ]
    }
}
