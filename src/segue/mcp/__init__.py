"""The MCP door: tools for agents over the library. The SDK takes a second to import and is imported only here."""
