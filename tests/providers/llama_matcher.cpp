// llama.cpp's converter and grammar matcher, over standard input: each line holds a schema and texts,
// {"schema": {…}, "texts": ["…"]}; each answer is {"error": null | "…", "matches": [true, …]}.
#include "common.h"
#include "json-schema-to-grammar.h"
#include "json.h"
#include "ggml.h"
#include "llama-grammar.h"
#include "llama-vocab.h"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

// What the grammar's source refers to and a grammar without a vocabulary never calls.
extern "C" void ggml_abort(const char *, int, const char *, ...) { std::abort(); }

int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const {
    std::abort();
}

static bool matches(const llama_grammar & grammar, const std::string & text) {
    llama_grammar * copy = llama_grammar_clone_impl(grammar);
    bool taken = true;
    try {
        llama_grammar_accept_str(*copy, text);
    } catch (const std::exception &) {
        taken = false;
    }
    bool complete = false;
    for (const auto & stack : copy->stacks) {
        complete = complete || stack.empty();
    }
    llama_grammar_free_impl(copy);
    return taken && complete;
}

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::string answer;
        try {
            common_json request = common_json::parse(line);
            std::string grammar_text = json_schema_to_grammar(request.at("schema"), true);
            llama_grammar * grammar = llama_grammar_init_impl(
                nullptr, grammar_text.c_str(), "root", false, nullptr, 0, nullptr, 0);
            if (grammar == nullptr) {
                throw std::runtime_error("the grammar cannot be parsed");
            }
            std::string verdicts;
            for (const auto & text : request.at("texts")) {
                verdicts += verdicts.empty() ? "" : ",";
                verdicts += matches(*grammar, text.get<std::string>()) ? "true" : "false";
            }
            llama_grammar_free_impl(grammar);
            answer = "{\"error\":null,\"matches\":[" + verdicts + "]}";
        } catch (const std::exception & error) {
            answer = "{\"error\":" + common_json(std::string(error.what())).dump() + ",\"matches\":[]}";
        }
        std::cout << answer << std::endl;
    }
}
